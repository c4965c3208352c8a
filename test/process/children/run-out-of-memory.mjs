// Run with a small --max-old-space-size: V8 gives up with SIGABRT.
const kept = [];
for (;;) kept.push(new Array(1000).fill(kept.length));
