import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environment, sigma } from '../support/sigma.js';

const available =
  'self-refine, steelman, inversion, constitutional, devils-advocate, pre-mortem, fmea, chain-of-verification, llm-as-judge, red-team';
let folder: string;
let home: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sigma-critic-'));
  home = path.join(folder, 'home');
  mkdirSync(path.join(folder, '.git'));
  mkdirSync(path.join(folder, '.claude/rules'), { recursive: true });
  mkdirSync(path.join(folder, 'src'));
  writeFileSync(path.join(folder, '.claude/rules/style.md'), '# Rules\n');
  writeFileSync(path.join(folder, 'src/a.ts'), 'export const a = 1;\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const critic = (...args: string[]) => sigma(home, ['critic', ...args], { cwd: folder });
const modesOf = ({ modes }: { modes: { mode: string }[] }): string[] =>
  modes.map(({ mode }) => mode);

test.each<[string[], string, string]>([
  [
    ['--mode', 'blue-team'],
    'MODE_UNKNOWN',
    `Unknown mode 'blue-team'. Available modes: ${available}`,
  ],
  [['--mode', 'red-team'], 'ARTIFACT_REQUIRED', 'Artifact path required'],
  [['--artifact', 'none.md'], 'ARTIFACT_NOT_FOUND', "Artifact not found at 'none.md'"],
  [['--artifact', 'src'], 'ARTIFACT_NOT_FOUND', "Artifact not found at 'src'"],
])('critic %j is refused with %s', async (args, code, text) => {
  const told = await critic(...args);
  expect([told.code, told.stdout]).toEqual([2, '']);
  expect(told.stderr).toContain(`${text} (${code})`);
  const { json } = await critic(...args, '--json');
  expect(json.error).toMatchObject({ code, text });
});

test('no file is read further than its limit', async () => {
  const told = await critic('--orchestration', '/dev/zero', '--json');
  expect([told.code === 0, told.json.error.code]).toEqual([false, 'TOO_LARGE']);
});

test('a link has the rules of its name; what is missing is warned of in one line, where the answer does not show it', async () => {
  mkdirSync(path.join(folder, 'docs/governance'), { recursive: true });
  symlinkSync('../../src/a.ts', path.join(folder, 'docs/governance/a.ts'));
  const asked = ['--mode', 'auto', '--artifact', 'docs/governance/a.ts', '--explain'];
  const told = await critic(...asked, '--json');
  expect([told.json.artifact, told.json.floor]).toEqual(['src/a.ts', 'C3']);
  expect(told.stderr.match(/not given/g)).toHaveLength(1);
  const shown = await critic(...asked);
  expect([shown.stderr, shown.stdout.match(/not given/g)?.length]).toEqual(['', 1]);
});

test('C4 with one agent, and a wrong order that was to be kept, are refused before anybody is asked', async () => {
  const alone = await critic(
    '--artifact',
    'src/a.ts',
    '--criticality',
    'C4',
    '--team',
    'TEAM-SINGLE',
    '--json',
  );
  expect([alone.code, alone.json.error.text, alone.json.selection.outcome]).toEqual([
    ...[
      1,
      'C4 review NOT PERMITTED for TEAM-SINGLE. Escalate to TEAM-MULTI + TEAM-HIL.',
      'refused',
    ],
  ]);
  const order = ['--mode', 'llm-as-judge,chain-of-verification', '--artifact', 'src/a.ts'];
  const strict = await critic(...order, '--strict-order', '--json');
  expect([strict.code, strict.json.error.code]).toEqual([2, 'MODE_ORDER']);
  const eased = await critic(...order, '--explain', '--json');
  expect(modesOf(eased.json)).toEqual(['chain-of-verification', 'llm-as-judge']);
  expect(eased.json.flags.map(({ code }: { code: string }) => code)).toContain('SEQ-003');
});

test('what could not be looked at, and a claim that is wrong, are no success', async () => {
  writeFileSync(path.join(folder, 'talk.md'), '# Talk\n\nWe met on Monday.\n');
  const broken = path.join(folder, 'bad-rules.md');
  writeFileSync(broken, '```rules\n- idd: x\n```\n');
  const blind = await critic('--mode', 'fmea', '--artifact', 'talk.md', '--json');
  expect(blind.code).toBe(1);
  expect(blind.json.reports[0]).toMatchObject({ status: 'partial', reason: 'NOTHING_LOOKED_AT' });
  expect(blind.json).toMatchObject({ verdict: 'UNSCORED', needs_person: false, state: 'reported' });
  const rules = ['--mode', 'constitutional', '--artifact', 'talk.md'];
  expect((await critic(...rules)).code).toBe(0);
  const unread = await critic(...rules, '--rules', broken, '--json');
  expect([unread.code, unread.json.reports[0].reason]).toEqual([1, 'RULES_UNREAD']);
  const refused = await critic(
    ...['--artifact', 'src/a.ts', '--criticality', 'C4', '--team', 'TEAM-SINGLE', '--explain'],
  );
  expect([refused.code, refused.stderr]).toEqual([1, '']);
  expect(refused.stdout).toMatch(/^REFUSED .*\n {2}C4 review NOT PERMITTED/);
}, 60_000);

test('a pair in tension is warned of on standard error, and goes on', async () => {
  const modes = ['--mode', 'red-team,devils-advocate', '--artifact', 'src/a.ts'];
  const told = await critic(...modes, '--explain', '--json');
  expect([told.code, modesOf(told.json)]).toEqual([0, ['red-team', 'devils-advocate']]);
  expect(told.stderr).toContain(
    'Tension pair detected: red-team and devils-advocate. Proceeding with caution. See EN-303 TASK-003 for tension management guidance.',
  );
});

test('each step of a choice is told, and nothing is reviewed', async () => {
  const rules = path.join(folder, '.claude/rules/style.md');
  const told = await critic(
    '--artifact',
    rules,
    '--criticality',
    'C1',
    '--phase',
    'explore',
    '--explain',
  );
  expect(told.code, told.stderr).toBe(0);
  expect(told.stdout).toMatch(
    /^REVIEW {2}\.claude\/rules\/style\.md: C3, never below C3, gate 0\.92$/m,
  );
  for (const step of ['escalate', 'phase', 'base', 'sequence', 'platform', 'target'])
    expect(told.stdout).toMatch(new RegExp(`^ {2}${step} `, 'm'));
  expect(told.stdout).toContain('PR-001');
});

test('without a mode and without a context it is the plain review; with any of it, it is not', async () => {
  const plain = await critic('--artifact', 'src/a.ts', '--explain', '--json');
  expect([modesOf(plain.json), plain.json.threshold]).toEqual([['standard'], 0.85]);
  const empty = await critic('--mode', '', '--artifact', 'src/a.ts', '--explain', '--json');
  expect(modesOf(empty.json)).toEqual(['standard']);
  const named = await critic(
    '--mode',
    'auto',
    '--criticality',
    'C9',
    '--artifact',
    'src/a.ts',
    '--explain',
    '--json',
  );
  expect([named.json.criticality, named.json.threshold]).toEqual(['C2', 0.92]);
  expect(named.stderr).toContain("Invalid criticality value 'C9'");
});

test('a context is read from a file, its artifact too, and options go before it', async () => {
  const file = path.join(folder, 'context.md');
  writeFileSync(
    file,
    '## PS CONTEXT (REQUIRED)\n- **PS ID:** {ps_id}\n- **Artifact to Critique:** src/a.ts\n\n## ADVERSARIAL CONTEXT\n- **Mode:** auto\n- **Criticality:** C1\n- **Phase:** PH-VALID\n',
  );
  const standard = path.join(folder, 'standard.md');
  const context = '## PS CONTEXT (REQUIRED)\n- **Artifact to Critique:** src/a.ts\n';
  const gates = async (text: string): Promise<[string[], number]> => {
    writeFileSync(standard, text);
    const { json } = await critic('--context', standard, '--explain', '--json');
    return [modesOf(json), json.threshold];
  };
  expect(await gates(context)).toEqual([['standard'], 0.85]);
  // The gate is that of the context, whatever mode it names.
  expect(await gates(`${context}\n## ADVERSARIAL CONTEXT\n- **Mode:** standard\n`)).toEqual([
    ['standard'],
    0.92,
  ]);
  const told = await critic('--context', file, '--explain', '--json');
  expect([modesOf(told.json), told.json.threshold]).toEqual([['llm-as-judge'], 0.92]);
  expect(told.stderr).toContain('context.md:2:14: PS ID was not filled in');
  const other = await critic('--context', file, '--phase', 'PH-EXPLORE', '--explain', '--json');
  expect(modesOf(other.json)).toEqual(['self-refine']);
  writeFileSync(file, '## PS CONTEXT\n- **Iteration:** two\n');
  const wrong = await critic('--context', file, '--artifact', 'src/a.ts', '--json');
  expect([wrong.code, wrong.json.error.code]).toEqual([2, 'CRITIC_CONTEXT_INVALID']);
});

test("rules of escalation are an operator's too", async () => {
  const file = path.join(folder, 'rules.yaml');
  writeFileSync(
    file,
    "escalation:\n  - {rule: AE-007, least: C3, reason: it is sold, paths: ['src/**']}\n",
  );
  const explained = ['--mode', 'auto', '--artifact', 'src/a.ts', '--explain', '--json'];
  const told = await critic(...explained, '--policy', file);
  expect([told.json.criticality, told.json.floor]).toEqual(['C3', 'C3']);
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ critic: { escalation: file } }));
  expect((await critic(...explained)).json.floor).toBe('C3');
  rmSync(path.join(home, 'config.json'));
  writeFileSync(file, 'escalation: 3');
  const wrong = await critic(...explained, '--policy', file);
  expect([wrong.code, wrong.json.error.code]).toEqual([2, 'CRITIC_POLICY_INVALID']);
});

test('a batch of contexts is answered line by line, and a line that is none does not stop it', async () => {
  const lines = [
    {
      id: 'a',
      criticality: 'C2',
      phase: 'PH-IMPL',
      team: 'TEAM-MULTI',
      token_budget: 'TOK-EXHAUST',
    },
    'nonsense',
    { id: 'b', criticality: 'C4', team: 'TEAM-SINGLE' },
    {
      id: 'c',
      context: { criticality: 'C1', phase: 'PH-EXPLORE' },
      artifact: '.claude/rules/x.md',
    },
    { id: 'd', mode: 'blue-team' },
    { id: 'e', criticality: { is: 'C1' } },
    { id: 'f', iteration: 1.5 },
    { id: 'g', previous_score: 92 },
    { foo: 1 },
    { id: 'h', criticality: 'C2', foo: 1 },
  ];
  const input = `\ufeff${lines.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n')}\n\n`;
  const [told, whole] = await Promise.all([
    sigma(home, ['critic', '--select', '-'], { input }),
    sigma(home, ['critic', '--select', '-', '--json'], { input }),
  ]);
  expect(told.code).toBe(1);
  const rows = told.stdout
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each));
  expect(rows.map(({ id, outcome, error }) => [id, outcome, error?.code])).toEqual([
    ['a', 'review', undefined],
    [undefined, 'invalid', 'CRITIC_LINE_INVALID'],
    ['b', 'refused', 'REVIEW_NOT_PERMITTED'],
    ['c', 'review', undefined],
    ['d', 'invalid', 'MODE_UNKNOWN'],
    ['e', 'invalid', 'CRITIC_LINE_INVALID'],
    ['f', 'invalid', 'CRITIC_LINE_INVALID'],
    ['g', 'invalid', 'CRITIC_LINE_INVALID'],
    [undefined, 'invalid', 'CRITIC_LINE_INVALID'],
    ['h', 'review', undefined],
  ]);
  expect(JSON.parse(whole.stdout)).toEqual({ selections: rows });
  // The budget is that of a review: where nothing is named, rules alone have all that they want.
  expect(rows[9].modes).toHaveLength(5);
  expect(rows[9].flags).toContainEqual(
    expect.objectContaining({ text: expect.stringContaining('foo') }),
  );
  expect(rows[0].modes).toEqual(['steelman', 'llm-as-judge']);
  expect([rows[3].criticality, rows[3].floor]).toEqual(['C3', 'C3']);
});

test('ps-critic is sigma critic', async () => {
  const program = fileURLToPath(new URL('../../services/cli/ps-critic.mjs', import.meta.url));
  const ran = (args: string[]) =>
    new Promise<{ stdout: string; stderr: string }>((resolve) =>
      execFile(
        ...([
          process.execPath,
          [program, ...args],
          { env: environment(home), cwd: folder },
        ] as const),
        (_, stdout, stderr) => resolve({ stdout, stderr }),
      ),
    );
  expect((await ran(['--mode', 'red-team'])).stderr).toContain('Artifact path required');
  expect((await ran(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+$/m);
});
