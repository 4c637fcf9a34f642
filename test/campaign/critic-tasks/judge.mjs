import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { modes } from '../../../dist/src/critic/modes.js';

const program = path.resolve(import.meta.dirname, '../../support/model-server/main.mjs');
/** So long that a process can be killed while a mode is under way. */
const delayMs = 150;

/** A ring in C: small, and enough to be right and wrong about. */
export function treeIn(root) {
  mkdirSync(root);
  writeFileSync(
    path.join(root, 'ring.c'),
    `#define RING_SLOTS 32

struct ring {
	int slots[RING_SLOTS];
	int head;
};

/** ring_put() - fills the next slot */
int ring_put(struct ring *ring, int value)
{
	ring->slots[ring->head] = value;
	ring->head = (ring->head + 1) % RING_SLOTS;
	return ring->head;
}
`,
  );
  writeFileSync(
    path.join(root, 'driver.c'),
    `int ring_put(struct ring *ring, int value);

/** driver_receive() - takes what the device has sent */
int driver_receive(struct ring *ring, int value)
{
	return ring_put(ring, value);
}
`,
  );
  return root;
}

const said = (slots) => `# The ring

## How many slots

\`RING_SLOTS\` is ${slots}. The ring has ${slots} slots, see \`ring.c:1\`.

## Who fills them

- \`ring_put\` in \`ring.c\` fills the next slot.
- \`driver_receive\` calls \`ring_put\`, see \`driver.c:6\`.

## What to do

1. Change \`RING_SLOTS\` in \`ring.c\` to have more slots.
2. Compile \`driver.c\` again after it.
`;

/** What the creator hands in. */
export const drafts = { wrong: said(64), right: said(32), short: 'The ring has 32 slots.\n' };

/** Words of both drafts: what a score above 0.90 rests on. */
const shown = ['fills the next slot', 'to have more slots', 'again after it'];

function answerOf(mode, score) {
  return {
    sections: mode.sections.map(({ title }) => ({ title, text: 'There is nothing to add.' })),
    findings: [],
    scores: (mode.dimensions ?? []).map(({ name }) => ({
      ...{ name, score, why: 'it is said where it stands', evidence: shown },
    })),
  };
}

/** A judge likes both drafts, the right one better: what is wrong with the other one is for the rules to find. */
function script() {
  return [...modes].flatMap(([name, mode]) =>
    [
      ['is 64', 0.8],
      ['', 0.95],
    ].map(([words, score]) => ({
      match: `Review in the mode ${name}\\.[\\s\\S]*${words}`,
      answer: { text: JSON.stringify(answerOf(mode, score)), delayMs },
    })),
  );
}

/** A process that judges; `asked`: which mode was asked about which draft, and in what words. Ends with this process. */
export async function judge() {
  const args = [program, '--until-stdin-ends'];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout), 'line');
  const { url } = JSON.parse(line);
  await fetch(new URL('/script', url), { method: 'PUT', body: JSON.stringify(script()) });
  return {
    config: { url, model: 'scripted' },
    asked: async () => {
      const requests = await (await fetch(new URL('/requests', url))).json();
      return requests.map(({ body }) => {
        const text = body.messages.findLast(({ role }) => role === 'user').content;
        const [, mode] = /Review in the mode ([a-z-]+)\./.exec(text) ?? [];
        return { mode, draft: text.includes('is 64') ? 'wrong' : 'right', text };
      });
    },
    end: () => child.kill(),
  };
}
