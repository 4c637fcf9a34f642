// An agent whose work somebody else does: it lays its prompt into DIR/inbox/TASK and waits for DIR/done/TASK, a JSON object
// { "stdout", "code" }, which it prints and ends with. Whoever answers edits the folder that DIR/inbox/TASK.cwd names.
import { mkdirSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const pollMs = 200;
const folder = process.argv[2];
const task = `${process.env.SIGMA_TASK_ID}-${process.env.SIGMA_ATTEMPT}`;
const inbox = path.join(folder, 'inbox');
const answer = path.join(folder, 'done', task);
mkdirSync(inbox, { recursive: true });
mkdirSync(path.dirname(answer), { recursive: true });
writeFileSync(path.join(inbox, `${task}.cwd`), process.cwd());
writeFileSync(path.join(inbox, `${task}.part`), readFileSync(0, 'utf8'));
// Whole when it is seen.
renameSync(path.join(inbox, `${task}.part`), path.join(inbox, task));
while (!existsSync(answer)) await wait(pollMs);
const { stdout, code } = JSON.parse(readFileSync(answer, 'utf8'));
process.stdout.write(stdout);
process.exitCode = code;
