// Which modes review what: all 38 880 contexts with and without rules of their path, all sets of modes in several orders, the
// worked examples, and a batch through the command line. Prints what comes of them and how long it takes; exit code 1 when
// anything is wrong. `npm run campaign:critic-select`
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

const dist = (file) => import(new URL(`../../dist/${file}`, import.meta.url).href);
const { select } = await dist('src/critic/select/select.js');
const { brokenRules, canonicalOrder, inSequence } = await dist('src/critic/select/sequence.js');
const { standingOf } = await dist('src/critic/select/escalation.js');
const { loadEscalation } = await dist('src/critic/select/escalation-file.js');
const shapes = await dist('src/critic/shapes.js');
const { modeNames, strategies } = await dist('src/critic/strategies.js');

const policy = loadEscalation();
const problems = [];
const wrong = (what) => problems.length < 20 && problems.push(what);

const values = {
  criticality: shapes.criticalities,
  phase: shapes.phases,
  target_type: shapes.targetTypes,
  maturity: shapes.maturities,
  team: shapes.teams,
  enforcement: shapes.enforcements,
  platform: shapes.platforms,
  token_budget: shapes.tokenBudgets,
};
const vectors = Object.entries(values).reduce(
  (list, [name, words]) => list.flatMap((each) => words.map((word) => ({ ...each, [name]: word }))),
  [{}],
);
if (vectors.length !== 38_880) wrong(`${vectors.length} contexts instead of 38 880`);

function timed(name, work) {
  const begun = performance.now();
  const said = work();
  report(name, performance.now() - begun, said);
}
function report(name, ms, said) {
  process.stdout.write(`${name.padEnd(44)} ${ms.toFixed(0).padStart(7)} ms  ${said}\n`);
}

function asked(context, artifact, more = {}) {
  const standing = standingOf(policy, { path: artifact, text: '' }, context);
  return {
    context,
    standing,
    modes: [],
    strict_order: false,
    is_adversarial: true,
    is_revision: false,
    iteration: 2,
    ...more,
  };
}

// --- every context
for (const artifact of ['', '.claude/rules/style.md', 'docs/adr/0001.md'])
  for (const is_revision of [false, true]) {
    const counts = {};
    timed(`38 880 contexts, ${artifact || 'no artifact'}${is_revision ? ', reopened' : ''}`, () => {
      for (const context of vectors) {
        const input = asked(context, artifact, { is_revision });
        const selection = select(input);
        check(context, selection);
        if (artifact === '' && JSON.stringify(selection) !== JSON.stringify(select(input)))
          wrong(`${Object.values(context).join(' ')}: not the same twice`);
        const row = (counts[context.criticality] ??= {});
        row[selection.outcome] = (row[selection.outcome] ?? 0) + 1;
        if (selection.modes.length === 0) row.empty = (row.empty ?? 0) + 1;
      }
      return '';
    });
    for (const [criticality, row] of Object.entries(counts))
      process.stdout.write(
        `    ${criticality} asked for: ${Object.entries(row)
          .map(([name, n]) => `${name} ${n}`)
          .join(', ')}\n`,
      );
  }

function check(context, selection) {
  const { outcome, criticality, floor, flags, tokens, error } = selection;
  const modes = selection.modes.map((each) => each.mode);
  const say = (what) => wrong(`${Object.values(context).join(' ')}: ${what}: ${modes.join()}`);
  const isTold = flags.some(({ level }) => level === 'mandatory');
  if (criticality < floor) say('below its floor');
  const isRefused = outcome === 'refused';
  if (context.criticality === 'C4' && context.team === 'TEAM-SINGLE' && !isRefused) say('C4 alone');
  if (isRefused !== (error !== '')) say('refused without a word');
  if (modes.length === 0 && (outcome === 'review' || !isTold)) say('nothing, in silence');
  if (outcome === 'end_session' && modes.length > 0) say('modes in a session that ends');
  if (new Set(modes).size !== modes.length) say('a mode twice');
  if (brokenRules(modes).length > 0) say('out of sequence');
  if (modes.includes('devils-advocate') && !modes.includes('steelman')) say('no steelman');
  if (tokens !== modes.reduce((sum, mode) => sum + strategies[mode].tokens, 0)) say('tokens');
  if (context.token_budget === 'TOK-CONST' && tokens > 20_000) say('over its budget');
  if (context.token_budget === 'TOK-EXHAUST' && tokens >= 5_000) say('over its budget');
}

// --- every set of modes
timed('1 023 sets of modes, each in several orders', () => {
  let orders = 0;
  let reordered = 0;
  for (let set = 1; set < 1 << modeNames.length; set += 1) {
    const modes = modeNames.filter((_, at) => (set >> at) & 1);
    for (let turn = 0; turn < modes.length; turn += 1)
      for (const isBack of [false, true]) {
        const given = [...modes.slice(turn), ...modes.slice(0, turn)];
        if (isBack) given.reverse();
        const order = inSequence(given);
        orders += 1;
        if (order.join() !== given.join()) reordered += 1;
        if (brokenRules(order).length > 0) wrong(`${given.join()} became ${order.join()}`);
        if (order.length !== given.length || given.some((mode) => !order.includes(mode)))
          wrong(`${given.join()} lost a mode`);
        if (modes.length === modeNames.length && order.join() !== canonicalOrder.join())
          wrong(`${order.join()} is not canonical`);
      }
  }
  return `${orders} orders, ${reordered} put in another`;
});

// --- the worked examples
timed('6 worked examples', () => {
  const examples = [
    [
      'C1 PH-IMPL TGT-CODE MAT-DRAFT TEAM-SINGLE ENF-FULL PLAT-CC TOK-FULL',
      '',
      'S-010 S-014',
      4_000,
      'C1',
    ],
    [
      'C2 PH-IMPL TGT-CODE MAT-DRAFT TEAM-MULTI ENF-FULL PLAT-CC TOK-FULL',
      '',
      'S-002 S-003 S-007 S-010 S-014',
      18_200,
      'C2',
    ],
    [
      'C2 PH-DESIGN TGT-DEC MAT-DRAFT TEAM-MULTI ENF-FULL PLAT-CC TOK-FULL',
      '.claude/rules/architecture-standards.md',
      'S-002 S-003 S-004 S-007 S-010 S-011 S-012 S-013 S-014',
      39_400,
      'C3',
    ],
    [
      'C4 PH-DESIGN TGT-DEC MAT-DRAFT TEAM-HIL ENF-PORT PLAT-GENERIC TOK-CONST',
      'docs/governance/JERRY_CONSTITUTION.md',
      'S-002 S-003 S-007 S-013 S-014',
      18_300,
      'C4',
    ],
    [
      'C2 PH-IMPL TGT-CODE MAT-REVIEW TEAM-MULTI ENF-FULL PLAT-CC TOK-EXHAUST',
      '',
      'S-003 S-014',
      3_600,
      'C2',
    ],
    [
      'C1 PH-EXPLORE TGT-DEC MAT-DRAFT TEAM-MULTI ENF-FULL PLAT-CC TOK-FULL',
      '.claude/rules/style.md',
      'S-002 S-003 S-004 S-007 S-010 S-011 S-012 S-013 S-014',
      39_400,
      'C3',
    ],
  ];
  for (const [words, artifact, wanted, tokens, criticality] of examples) {
    const list = words.split(' ');
    const context = Object.fromEntries(Object.keys(values).map((name, at) => [name, list[at]]));
    const its = select(asked(context, artifact));
    const got = its.modes
      .map(({ mode }) => strategies[mode].id)
      .sort()
      .join(' ');
    if (got !== wanted || its.tokens !== tokens || its.criticality !== criticality)
      wrong(`${words} ${artifact}: ${got}, ${its.tokens}, ${its.criticality}`);
  }
  return 'as the document has them, tokens added up from their modes';
});

// --- as a user does it
const home = mkdtempSync(path.join(tmpdir(), 'sigma-select-'));
try {
  const begun = performance.now();
  const lines = await batch(vectors.map((context, id) => JSON.stringify({ id, ...context })));
  const outcomes = {};
  for (const [at, line] of lines.entries()) {
    const row = JSON.parse(line);
    if (row.id !== at) wrong(`line ${at} answers ${row.id}`);
    outcomes[row.outcome] = (outcomes[row.outcome] ?? 0) + 1;
  }
  if (lines.length !== vectors.length) wrong(`${lines.length} lines of answer`);
  report(
    'sigma critic --select, 38 880 lines',
    performance.now() - begun,
    JSON.stringify(outcomes),
  );
} finally {
  rmSync(home, { recursive: true, force: true });
}

function batch(lines) {
  const program = fileURLToPath(new URL('../../services/cli/sigma.mjs', import.meta.url));
  const env = { ...process.env, SIGMA_HOME: home };
  const child = spawn(process.execPath, [program, 'critic', '--select', '-'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  child.stdin.end(`${lines.join('\n')}\n`);
  return new Promise((resolve) =>
    child.once('close', (code) => {
      if (code !== 0) wrong(`the command ended with ${code}`);
      resolve(Buffer.concat(chunks).toString().trimEnd().split('\n'));
    }),
  );
}

for (const problem of problems) process.stdout.write(`WRONG ${problem}\n`);
process.stdout.write(problems.length === 0 ? 'nothing wrong\n' : `${problems.length} wrong\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
