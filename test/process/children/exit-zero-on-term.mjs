// Tidies up on TERM and exits with code 0, saying so at the last moment.
process.on("SIGTERM", () => {
	console.log("bye");
	process.exit(0);
});
console.log("ready");
setInterval(() => undefined, 1000);
