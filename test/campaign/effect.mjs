// What a task does in the campaign: it takes a while, then has its effect, once for each key that it finds in its
// environment. Without a key every run has an effect of its own.
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const [folder, task, beforeMs, afterMs] = process.argv.slice(2);
const key = process.env.SIGMA_IDEMPOTENCY_KEY ?? '';
await wait(Number(beforeMs));
let isFirst = true;
if (key !== '') {
  try {
    writeFileSync(path.join(folder, 'keys', key), '', { flag: 'wx' });
  } catch {
    isFirst = false;
  }
}
if (isFirst) appendFileSync(path.join(folder, 'effects'), `${task} ${key}\n`);
await wait(Number(afterMs));
process.stdout.write(`done: ${task}\n`);
