// By `--import`: what this process allocates and how long it collects garbage, as `{ heapBytes, bufferBytes, gcShare,
// minor, major }`. `bufferBytes`: contents of buffers made in JavaScript; what libzmq receives is not among them.
import { performance } from 'node:perf_hooks';
import { GCProfiler, getHeapStatistics } from 'node:v8';
import { serveProbe } from './probe.mjs';

let bufferBytes = 0;
// Before others keep the originals.
for (const name of ['alloc', 'allocUnsafe', 'allocUnsafeSlow']) {
  const made = Buffer[name];
  Buffer[name] = (bytes, ...rest) => {
    bufferBytes += bytes;
    return made(bytes, ...rest);
  };
}

let profiler;
let usedBytes = 0;
let utilization;

serveProbe({
  start() {
    profiler = new GCProfiler();
    profiler.start();
    bufferBytes = 0;
    usedBytes = getHeapStatistics().used_heap_size;
    utilization = performance.eventLoopUtilization();
  },
  end() {
    const { statistics } = profiler.stop();
    let heapBytes = 0;
    for (const { beforeGC, afterGC } of statistics) {
      heapBytes += beforeGC.heapStatistics.usedHeapSize - usedBytes;
      usedBytes = afterGC.heapStatistics.usedHeapSize;
    }
    heapBytes += getHeapStatistics().used_heap_size - usedBytes;
    const gcMs = statistics.reduce((sum, { cost }) => sum + cost, 0) / 1_000;
    const minor = statistics.filter(({ gcType }) => gcType === 'Scavenge').length;
    // Of the time in which the loop was at work: both are by the clock, which runs on while others have the processor.
    const gcShare = gcMs / performance.eventLoopUtilization(utilization).active;
    return { heapBytes, bufferBytes, gcShare, minor, major: statistics.length - minor };
  },
});
