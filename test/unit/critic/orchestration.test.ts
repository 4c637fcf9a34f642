import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { OrchestrationFile } from '../../../src/critic/orchestration/orchestration-file.js';
import {
  runOrchestration,
  type OrchestrationParts,
} from '../../../src/critic/orchestration/orchestration.js';
import type { Critique, CritiqueRequest } from '../../../src/critic/shapes.js';
import { reportOf } from '../../../src/critic/review/report.js';
import { judgeNothing, selectionOf } from '../../support/reviews.js';

const source = `# Who plans this: the architects.
owner: architects # kept
phases:
  - id: research
    title: kept too
    adversarial_review: { artifact: research.md, modes: [inversion] }
  - id: build
    note: no review
  - id: design
    adversarial_review:
      artifact: design.md # the one of May
      modes: [steelman]
  - id: whole
    after: [meet]
    adversarial_review: { artifact: whole.md, modes: [red-team] }
barriers:
  - { id: other, type: something_else }
  - { id: meet, type: adversarial_sync, waits_for: [research, design] }
cross_pollination:
  - { from: research, to: whole }
`;

function critiqueOf(request: CritiqueRequest): Critique {
  const [mode = 'standard'] = request.modes;
  const finding = {
    ...({ id: 'f', mode, by: 'rules', rule: 'RULE', severity: 'minor', is_hard: false } as const),
    ...{ text: `found in ${request.artifact.path}`, line_start: 1, line_end: 1, remedy: '' },
    evidence: [],
  };
  const how = { status: 'complete', reason: '', elapsedMs: 1 } as const;
  return {
    ...{ id: request.id, artifact: request.artifact.path, digest: 'd', iteration: 2 },
    ...{ selection: selectionOf(request), reports: [reportOf(mode, { findings: [finding] }, how)] },
    ...judgeNothing(request, selectionOf(request), []),
    ...{ engine: 'rules', tokens: 0, begun_ms: 1, elapsed_ms: 1, state: '', standing: '' },
  };
}

/** Reviews end when they are told to, by the path of their artifact. */
function stage(): OrchestrationParts & {
  asked: CritiqueRequest[];
  saved: string[];
  end: Map<string, () => void>;
} {
  const asked: CritiqueRequest[] = [];
  const saved: string[] = [];
  const end = new Map<string, () => void>();
  return {
    ...{ asked, saved, end, root: '' },
    review: (request, onProgress) => {
      asked.push(request);
      onProgress({ id: request.id, done: 0, total: 1, report: null, next: 'steelman' });
      return new Promise((resolve) =>
        end.set(request.artifact.path, () => resolve(critiqueOf(request))),
      );
    },
    read: (path) => Promise.resolve(`text of ${path}`),
    save: (text) => Promise.resolve(void saved.push(text)),
  };
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
}

test('two critics at once, a barrier until both are over, and what one found is handed on', async () => {
  const its = stage();
  const done = runOrchestration(new OrchestrationFile(source, 'o.yaml'), its);
  await settled();
  expect(its.asked.map(({ artifact }) => artifact.path)).toEqual(['research.md', 'design.md']);
  its.end.get('research.md')?.();
  await settled();
  expect(its.asked).toHaveLength(2);
  its.end.get('design.md')?.();
  await settled();
  expect(its.asked[2]?.artifact).toEqual({ path: 'whole.md', text: 'text of whole.md' });
  expect(its.asked[2]?.handed?.map(({ findings }) => findings[0]?.text)).toEqual([
    'found in research.md',
  ]);
  its.end.get('whole.md')?.();
  expect((await done).map(({ phase, reason }) => [phase, reason])).toEqual([
    ['research', ''],
    ['design', ''],
    ['whole', ''],
  ]);
  const written = parse(its.saved.at(-1) ?? '') as Record<string, any>;
  expect(written.barriers[1].status).toBe('passed');
  expect(written.cross_pollination[0].handoff).toContain('found in research.md');
  expect(written.checkpoints.map((each: any) => each.phase)).toEqual([
    'research',
    'design',
    'whole',
  ]);
  expect(written.quality_tracking.map((each: any) => each.artifact).sort()).toEqual([
    'design.md',
    'research.md',
    'whole.md',
  ]);
});

test('comments and what is of others stay as they are', async () => {
  const its = stage();
  const done = runOrchestration(new OrchestrationFile(source, 'o.yaml'), its);
  await settled();
  for (const path of ['research.md', 'design.md']) its.end.get(path)?.();
  await settled();
  its.end.get('whole.md')?.();
  await done;
  const text = its.saved.at(-1) ?? '';
  for (const kept of [
    '# Who plans this',
    'owner: architects # kept',
    'title: kept too',
    '# the one of May',
    'something_else',
  ])
    expect(text).toContain(kept);
});

test('a run that was killed goes on with the same reviews', async () => {
  const first = stage();
  void runOrchestration(new OrchestrationFile(source, 'o.yaml'), first);
  await settled();
  first.end.get('research.md')?.();
  await settled();
  const second = stage();
  void runOrchestration(new OrchestrationFile(first.saved.at(-1) ?? '', 'o.yaml'), second);
  await settled();
  expect(second.asked.map(({ id }) => id)).toEqual(first.asked.map(({ id }) => id));
});

test('a phase that cannot be reviewed is said, and does not keep the others', async () => {
  const its = stage();
  const read = (path: string): Promise<string> =>
    path === 'research.md' ? Promise.reject(new Error('gone')) : Promise.resolve('text');
  const done = runOrchestration(new OrchestrationFile(source, 'o.yaml'), { ...its, read });
  await settled();
  its.end.get('design.md')?.();
  await settled();
  its.end.get('whole.md')?.();
  expect((await done).map(({ reason }) => reason)).toEqual(['INTERNAL', '', '']);
});

test.each([
  [
    'o.yaml:2: phases.0.adversarial_review.modes.0: it is none of the modes self-refine',
    'phases:\n  - { id: a, adversarial_review: { artifact: x, modes: [nonsense] } }\n',
  ],
  [
    'phase a waits for b, which is no adversarial_sync',
    'phases:\n  - { id: a, after: [b], adversarial_review: { artifact: x } }\n',
  ],
  [
    'phase a would wait for itself',
    'phases:\n  - { id: a, after: [b], adversarial_review: { artifact: x } }\nbarriers:\n  - { id: b, type: adversarial_sync, waits_for: [a] }\n',
  ],
  [
    'two phases have one id',
    'phases:\n  - { id: a, adversarial_review: { artifact: x } }\n  - { id: a, adversarial_review: { artifact: x } }\n',
  ],
  ['o.yaml:2: Flow sequence', 'phases: [\n'],
])('refused: %s', (detail, text) => {
  expect(() => new OrchestrationFile(text, 'o.yaml')).toThrow(detail);
});
