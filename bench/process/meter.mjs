/** Wall and CPU milliseconds and peak memory of this process, taken as the yardsticks take them. */
export function startMeter() {
	let peak = 0;
	const sampler = setInterval(() => {
		peak = Math.max(peak, process.memoryUsage.rss());
	}, 20);
	const started = performance.now();
	return {
		print(found) {
			clearInterval(sampler);
			peak = Math.max(peak, process.memoryUsage.rss());
			const cpu = process.cpuUsage();
			const cpuMs = Math.round((cpu.user + cpu.system) / 1000);
			const wallMs = Math.round(performance.now() - started);
			console.log(JSON.stringify({ wallMs, cpuMs, peakMB: Math.round(peak / 1e6), ...found }));
		},
	};
}
