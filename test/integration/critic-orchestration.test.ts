import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../support/eventually.js';
import { ModelServer } from '../support/model-server.js';
import { chainRepository } from '../support/repository.js';
import { sigma, startProcess } from '../support/sigma.js';

let repository: ReturnType<typeof chainRepository>;
let server: ModelServer;
let file: string;

/** Two critics at once, a barrier, and a third one that is told what they found. */
const orchestration = `# Reviews of the driver.
workflow: driver # kept
phases:
  - id: facts
    adversarial_review:
      artifact: ../docs/driver.md
      modes: [chain-of-verification]
  - id: failures
    adversarial_review:
      artifact: plan.md
      modes: [self-refine, inversion]
  - id: whole
    after: [both]
    adversarial_review:
      artifact: plan.md
      modes: [llm-as-judge]
barriers:
  - { id: both, type: adversarial_sync, waits_for: [facts, failures] }
cross_pollination:
  - { from: facts, to: whole }
`;

beforeAll(async () => {
  repository = chainRepository();
  const { home, root, plan } = repository;
  for (const folder of ['docs', 'work']) mkdirSync(path.join(root, folder));
  writeFileSync(
    path.join(root, 'docs/driver.md'),
    '# Driver\n\n`drivers/nic/nic_main.c:900` opens the device.\n',
  );
  writeFileSync(path.join(root, 'work/plan.md'), '# Plan\n\nIt takes its time.\n');
  file = path.join(root, 'work/ORCHESTRATION.yaml');
  writeFileSync(file, orchestration);
  expect((await sigma(home, ['index', root, '--shards', plan])).code).toBe(0);
  server = await ModelServer.open();
  const model = { url: server.url, model: 'm' };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ model }));
}, 60_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  repository.remove();
});

const written = (): any => parse(readFileSync(file, 'utf8'));
const codes = (phase: any): string[] => [phase.adversarial_review.status];

test('a run that is killed goes on where it was; what was found is handed on and tracked', async () => {
  const answer = { text: 'nothing that helps' };
  await server.play([{ match: 'mode inversion', answer: { hangs: 'before' } }, { answer }]);
  const first = startProcess(repository.home, ['critic', '--orchestration', file]);
  await eventually(() => {
    const { phases, checkpoints = [] } = written();
    expect(codes(phases[0])).toEqual(['complete']);
    const inner = checkpoints.find(({ phase }: any) => phase === 'failures');
    expect(inner?.pipeline_state).toMatchObject({ done: 1, total: 2, next: 'inversion' });
  }, 40_000);
  first.process.kill('SIGKILL');
  await first.ended;
  const before = written();
  expect(before.phases[2].adversarial_review.status).toBeUndefined();
  await server.play([{ answer }]);
  const told = await sigma(repository.home, ['critic', '--orchestration', file, '--json']);
  const asked = (await server.requests()).map(({ body }) => JSON.stringify(body));
  // What had ended is not asked for again.
  for (const mode of ['chain-of-verification', 'self-refine'])
    expect(asked.filter((text) => text.includes(`in the mode ${mode}.`))).toEqual([]);
  expect(told.json.phases.map(({ phase, reason }: any) => [phase, reason])).toEqual([
    ...[
      ['facts', ''],
      ['failures', ''],
      ['whole', ''],
    ],
  ]);
  const after = written();
  for (const at of [0, 1])
    expect(after.phases[at].adversarial_review.review).toBe(
      before.phases[at].adversarial_review.review,
    );
  expect(after.barriers[0].status).toBe('passed');
  expect(after.cross_pollination[0].handoff).toContain('drivers/nic/nic_main.c has');
  expect(readFileSync(file, 'utf8')).toMatch(/handoff: \|\n {6}# Pipeline Context/);
  expect(readFileSync(file, 'utf8')).toContain('workflow: driver # kept');
  // By their paths from the root of the tree, as `sigma critic history` knows them.
  const tracked = after.quality_tracking.map(({ artifact }: any) => artifact).sort();
  expect(tracked).toEqual(['docs/driver.md', 'work/plan.md']);
  const judge = asked.find((text) => text.includes('in the mode llm-as-judge.'));
  expect(judge).toContain('drivers/nic/nic_main.c has');
}, 90_000);
