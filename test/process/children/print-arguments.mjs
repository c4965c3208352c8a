// Prints its arguments as JSON, then its directory.
console.log(JSON.stringify(process.argv.slice(2)));
console.log(process.cwd());
