import { createInterface } from 'node:readline/promises';
import type { Call, Reply } from '../../../src/operations/operation.js';
import { changed } from '../../../src/operations/tasks/task-update.js';
import { Tasks } from '../../../src/remote/tasks.js';
import type { TaskView } from '../../../src/task/requests/messages.js';
import { print } from '../output.js';
import { asked } from './judging.js';

const words: Record<string, 'accept' | 'refuse'> = {
  ...{ '': 'accept', y: 'accept', yes: 'accept', n: 'refuse', no: 'refuse' },
};

/** `task review` on a terminal: what was shown is accepted or refused. */
export async function goOn(
  reply: Reply<TaskView>,
  { bus }: Call,
): Promise<Reply<TaskView> | undefined> {
  const { id, may } = reply.value;
  if (!may.includes('accept')) return reply;
  print({}, reply.value, () => reply.text(reply.value));
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    for (;;) {
      const said = await asked(lines, 'Accept it? [Y/n] ');
      if (said === undefined) break;
      const what = words[said.trim().toLowerCase()];
      if (what === undefined) continue;
      const now = await new Tasks(await bus.client()).change({ id, what, text: '' });
      return changed(now, what);
    }
  } finally {
    lines.close();
  }
  process.stdout.write('\nNothing was decided.\n');
  return undefined;
}
