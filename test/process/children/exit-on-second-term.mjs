// Exits with code 143 on the second TERM, and says each one.
let terms = 0;
process.on("SIGTERM", () => {
	console.log(`term ${++terms}`);
	if (terms === 2) process.exit(143);
});
console.log("ready");
setInterval(() => undefined, 1000);
