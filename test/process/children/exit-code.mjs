// Exits with the given code.
process.exitCode = Number(process.argv[2]);
