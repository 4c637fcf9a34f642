import { chromium } from './chromium.js';

/** Before the tests of the console in a browser. */
export default function setup(): void {
  if (chromium() !== undefined) return;
  process.stdout.write('SKIPPED: Chromium is not installed (apt-get install chromium)\n');
  process.exit(0);
}
