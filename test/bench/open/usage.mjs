// Loaded before a program: writes what it used where SIGMA_USAGE says, when it ends.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const cpuMs = (userCPUTime + systemCPUTime) / 1_000;
  writeFileSync(process.env.SIGMA_USAGE, JSON.stringify({ cpuMs, rssMiB: maxRSS / 1_024 }));
});
