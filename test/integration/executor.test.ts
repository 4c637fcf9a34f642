import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTask } from '../../src/delegation/task/schema.js';
import { strategies } from '../../src/delegation/task/shapes.js';
import { placeOf, readManifest, writeManifest } from '../../src/pgc/plan/manifest.js';
import { realRoot } from '../../src/pgc/source/source-tree.js';
import { verify } from '../../src/pgc/answer/verify.js';
import { Desk } from '../support/desk.js';
import { eventually } from '../support/eventually.js';
import { chainRepository } from '../support/repository.js';
import { sigma, startProcess, startSigma, type Running } from '../support/sigma.js';

let stage: ReturnType<typeof chainRepository>;
let desk: Desk;
const running: Running[] = [];
let executor: Running;
/** Where programs run. */
let place: string;

const agentScript = `
let prompt = '';
process.stdin.on('data', (chunk) => (prompt += chunk)).on('end', () => {
  const id = process.env.SIGMA_TASK_ID;
  if (prompt.includes('ASK')) return console.log(JSON.stringify({ needs_clarification: 'Which ring?' }));
  if (prompt.includes('CUT')) return console.log('{"task_id": "cut", "status": "comple');
  if (prompt.includes('STRUCTURED'))
    return console.log(JSON.stringify({ task_id: id, status: 'completed', result: 'done', files_modified: ['a.c'] }));
  if (prompt.includes('INFLATED')) {
    const [, file_path, line, end, content] = /\\[1\\] O\\d (\\S+):(\\d+)-(\\d+)\\n([^]*?)\\n\\n\\[2\\]/.exec(prompt);
    const given = { overlay: 'O1', file_path, line_start: +line, line_end: +end, content, similarity: 1, relevance: 'given' };
    const own = { overlay: 'O1', file_path: 'mm/users.c', line_start: 1, line_end: 1, content: 'int alloc_one(int size) { return size; }', similarity: 1, relevance: 'own' };
    const grounding_evidence = { citations: [given, own], grounding_confidence: 'high' };
    return console.log(JSON.stringify({ task_id: 'another', attempt: 7, status: 'completed', result: 'done', grounding_evidence }));
  }
  if (prompt.includes('contradicts')) return console.log('Call \`nic_open\` in drivers/nic/nic_main.c.');
  console.log('Call \`nic_invented\` in drivers/nic/nowhere.c.' + (prompt.includes('nic_setup_rx_ring') ? ' (told)' : ''));
});
`;

function start(...args: string[]): Running {
  return begun(startSigma(stage.home, [...args, '--log', 'info']));
}

/** It is stopped and killed. */
function startExecutor(): Running {
  return begun(startProcess(stage.home, ['agent', 'executor', '--log', 'info']));
}

function begun(its: Running): Running {
  running.push(its);
  return its;
}

beforeAll(async () => {
  stage = chainRepository();
  writeFileSync(
    path.join(stage.root, 'mm/users.c'),
    `int alloc_one(int size) { return size; }
int uses(void) { return alloc_one(1); }
void drops(void)
{
	alloc_one(2);
	if (alloc_one(3))
		alloc_one(4);
}
`,
  );
  place = path.join(path.dirname(stage.root), 'place');
  mkdirSync(path.join(place, 'below'), { recursive: true });
  mkdirSync(stage.home, { recursive: true });
  writeFileSync(path.join(place, 'agent.mjs'), agentScript);
  const agent = [process.execPath, path.join(place, 'agent.mjs')];
  writeFileSync(
    path.join(stage.home, 'config.json'),
    JSON.stringify({ executor: { root: place, agent } }),
  );
  const allow = [{ command: [process.execPath, '*.cjs', '...'], why: 'programs of these tests' }];
  writeFileSync(path.join(stage.home, 'attention.yaml'), JSON.stringify({ allow }));
  const { root, home, plan } = stage;
  expect((await sigma(home, ['index', root, '--shards', plan])).code).toBe(0);
  await withoutOverlay('O5');
  start('bus');
  start('agent', 'pgc', root);
  start('agent', 'manager');
  executor = startExecutor();
  desk = await Desk.open(home);
  await eventually(async () => {
    const { services } = await desk.client.status();
    expect(services.map(({ name }) => name)).toContain('lattice');
    expect(await online()).toEqual(['executor', 'pgc', 'pgc', 'pgc', 'pgc']);
    const { json } = await sigma(home, ['callers', 'nic_log', '--json']);
    expect(json.callers).toHaveLength(3);
  }, 50_000);
}, 90_000);

afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  for (const each of running.reverse()) {
    each.process.kill('SIGTERM');
    await each.ended;
  }
  stage.remove();
});

/** As if nobody had ever made it. */
async function withoutOverlay(name: string): Promise<void> {
  const root = await realRoot(stage.root);
  const its = placeOf(root, stage.home);
  const manifest = await readManifest(its, root);
  const shards = manifest.shards.map((shard) => ({
    ...shard,
    overlays: Object.fromEntries(Object.entries(shard.overlays).filter(([each]) => each !== name)),
  }));
  await writeManifest(its, { ...manifest, shards });
}

async function online(): Promise<string[]> {
  const agents = await desk.client.agents();
  return agents
    .filter(({ state, record }) => state === 'online' && ['pgc', 'executor'].includes(record.role))
    .map(({ record }) => record.role)
    .sort();
}

let programs = 0;
/** A program of its own in the folder of the executor, and in the one below: a policy allows them by their names. */
function node(script: string): string[] {
  programs += 1;
  const file = `program-${programs}.cjs`;
  for (const folder of [place, path.join(place, 'below')])
    writeFileSync(path.join(folder, file), script);
  return [process.execPath, file];
}
/** Its end, which a program below the root may bear among its arguments. */
const nameOf = (file: string): string => `place/${path.basename(file)}`;
/** Processes that bear the name of a file among their arguments: by its own number none is known outside of its walls. */
const living = (file: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(nameOf(file))
      );
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
const lines = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];

async function restart(): Promise<void> {
  executor = startExecutor();
  await eventually(async () => expect(await online()).toContain('executor'), 20_000);
}

describe('strategies', () => {
  test('every caller of a symbol is listed with whether it ignores the result, and cited validly', async () => {
    const response = await desk.done({
      id: 'callers',
      task: 'Find every caller of alloc_one and say which ignore its result.',
      grounding: { strategy: 'pgc_cite' },
    });
    expect(response).toMatchObject({ status: 'completed', protocol_version: '2.0', attempt: 1 });
    expect(response.result.split('\n').slice(0, 8)).toEqual([
      'alloc_one is called at 4 places; 2 of them ignore its result.',
      'Defined at mm/users.c:1.',
      'Result ignored (2):',
      '- mm/users.c:5 in drops',
      '- mm/users.c:7 in drops',
      'Result used (2):',
      '- mm/users.c:2 in uses',
      '- mm/users.c:6 in drops',
    ]);
    const citations = response.grounding_evidence!.citations;
    const cited = citations
      .filter(({ overlay }) => overlay === 'O3')
      .map((each) => each.line_start);
    expect(cited.sort()).toEqual([2, 5, 6, 7]);
    const verdicts = await Promise.all(citations.map((each) => verify(each, stage.root)));
    expect(new Set(verdicts.map(({ status }) => status))).toEqual(new Set(['valid']));
  });

  test('a question in words is answered as ask answers it, whatever its strategy', async () => {
    const task = 'How does nic_setup_rx_ring allocate its buffers?';
    const { json: asked } = await sigma(stage.home, ['ask', task, '--json']);
    const groundings = [...strategies.map((strategy) => ({ strategy })), null];
    const levels = new Set<string>();
    for (const [at, grounding] of groundings.entries()) {
      const { result, ...response } = await desk.done({ id: `words-${at}`, task, grounding });
      expect(response).toMatchObject({ status: 'completed', errors: [] });
      const lines = result.split('\n').filter((each) => !each.endsWith(':'));
      expect(lines).toHaveLength(asked.evidence.length);
      const { citations, grounding_confidence } = response.grounding_evidence!;
      const places = citations.map(({ file_path, line_start }) => `${file_path}:${line_start}`);
      expect(places.sort()).toEqual(
        asked.evidence
          .map((each: (typeof citations)[0]) => `${each.file_path}:${each.line_start}`)
          .sort(),
      );
      levels.add(grounding_confidence);
    }
    expect(levels.size).toBe(1);
  });

  test('what nothing answers is not found, and that is final', async () => {
    const task = 'Zyzzyva quokka flummox?';
    for (const strategy of strategies) {
      const response = await desk.done({ id: `none-${strategy}`, task, grounding: { strategy } });
      expect(response).toMatchObject({ status: 'failed', reason: 'NOT_FOUND' });
      expect(response.errors[0]).toMatchObject({ code: 'NOT_FOUND', retryable: false });
      expect(response.errors[0]!.text).toContain('No word of the question');
    }
    const context = 'A quokka is not in the code.';
    const told = await desk.done({ id: 'from-context', task, context });
    expect(told).toMatchObject({ status: 'completed', result: context });
  });

  test('pgc_first asks before anything is done and hands over what it found', async () => {
    const task = 'How does nic_setup_rx_ring allocate?';
    const response = await desk.done({
      ...{ id: 'first', task, runner: 'command', grounding: { strategy: 'pgc_first' } },
      action: { argv: node('process.stdout.write(process.env.SIGMA_CONTEXT)') },
    });
    expect(response.status).toBe('completed');
    expect(response.result).toMatch(/O\d \S+:\d+: .*nic_setup_rx_ring/);
    expect(response.result).not.toContain('{"');
    expect(response.grounding_evidence!.queries_executed).toEqual([task]);
    expect(response.grounding_evidence!.citations.length).toBeGreaterThan(0);
    expect(response.usage!.grounding_bytes).toBeGreaterThan(0);
    expect(response.usage!.context_bytes).toBeGreaterThan(0);
  });

  test('pgc_verify lets the runner propose without context, looks its names up, and lets it try once more', async () => {
    const response = await desk.done({
      ...{ id: 'verify', task: 'Which function opens the interface?', runner: 'agent' },
      grounding: { strategy: 'pgc_verify' },
    });
    expect(response.status).toBe('completed');
    expect(response.result).toContain('nic_open');
    expect(response.result).not.toContain('told');
    expect(response.result).toContain('in 2 turns, none contradicts the PGC');
  });

  test('none, and a legacy task, ask nobody and have no evidence', async () => {
    const action = { argv: node('console.log("hello")'), read_only: true };
    const none = await desk.done({
      ...{ id: 'none', task: 'Say hello.', runner: 'command', action },
      grounding: { strategy: 'none' },
    });
    const legacy = await desk.done({ id: 'legacy', task: 'Say hello.', runner: 'command', action });
    expect([none, legacy].map((each) => each.protocol_version)).toEqual(['2.0', '1.0-legacy']);
    for (const each of [none, legacy]) {
      expect(each).toMatchObject({ status: 'completed', grounding_evidence: null });
      expect(each.result).toBe('exit code 0\n--- stdout\nhello');
      expect(each.usage!.grounding_bytes).toBe(0);
    }
  });

  test('all hints are asked over the bus', async () => {
    const response = await desk.done({
      id: 'hints',
      task: 'What does a change of dma_alloc_mapped reach?',
      grounding: {
        strategy: 'pgc_first',
        query_hints: ['How is a ring allocated?', 'free pages'],
        overlay_hints: ['O1', 'O2'],
        analysis_hints: [
          { type: 'blast_radius', target: 'kernel/dma/mapping.c#dma_alloc_mapped' },
          { type: 'security_impact', target: 'nic_open' },
          { type: 'dependency_check' },
          { type: 'algebra_query', target: 'O1[path=mm]', options: { limit: 3 } },
        ],
        algebra_expression: 'O1[name=nic_open]',
      },
    });
    expect(response.status).toBe('completed');
    const evidence = response.grounding_evidence!;
    expect(evidence.queries_executed).toEqual([
      'How is a ring allocated?',
      'free pages',
      'blast_radius kernel/dma/mapping.c#dma_alloc_mapped',
      'security_impact nic_open',
      'dependency_check',
      'algebra_query O1[path=mm]',
      'algebra_query O1[name=nic_open]',
    ]);
    expect(evidence.overlays_consulted).toEqual(expect.arrayContaining(['O1', 'O2', 'O3']));
    expect(response.result).toMatch(/direct consumers/);
    expect(response.result).toContain('Security of nic_open: risk');
    expect(response.result).toContain('Dependencies between folders:');
    expect(response.result).toContain('O1[name=nic_open]: 2 found: nic_open (');
    expect(response.errors).toEqual([]);
  });
});

test('an overlay that nobody has made is made once, and consulted', async () => {
  const task = {
    task: 'How is it built?',
    grounding: { strategy: 'pgc_first', overlay_hints: ['O5'] },
  };
  const before = await desk.client.agents({ role: 'pgc' });
  expect(before.map(({ record }) => record.overlays.O5)).toEqual(Array(4).fill(undefined));
  const [one, other] = await Promise.all([
    desk.done({ id: 'overlay-1', ...task }),
    desk.done({ id: 'overlay-2', ...task }),
  ]);
  for (const { reason, grounding_evidence } of [one, other]) {
    // It is there, and holds nothing of this.
    expect(reason).toBe('NOT_FOUND');
    expect(grounding_evidence!.overlays_consulted).toEqual(['O5']);
    expect(grounding_evidence!.overlay_warnings.join()).not.toContain('O5');
  }
  expect(executor.output().match(/making overlays/g)).toHaveLength(1);
}, 60_000);

describe('errors', () => {
  test('without a PGC nothing is executed', async () => {
    const effect = path.join(place, 'never');
    const response = await desk.done({
      ...{ id: 'dead-pgc', task: 'Do it.', runner: 'command', pgc: 'nobody' },
      action: { argv: node(`require('fs').writeFileSync(${JSON.stringify(effect)}, 'x')`) },
      grounding: { strategy: 'pgc_first' },
    });
    expect(response).toMatchObject({ status: 'blocked', reason: 'PGC_FAILED', result: '' });
    expect(response.errors[0]).toMatchObject({ code: 'PGC_FAILED' });
    expect(response.errors[0]!.text).toContain('UNKNOWN_AGENT');
    expect(response.grounding_evidence!.citations).toEqual([]);
    expect(existsSync(effect)).toBe(false);
  });

  test('what a task leaves open is asked, and the answer is used', async () => {
    const task = {
      task: 'Find every caller of dma_pool_get.',
      grounding: { strategy: 'pgc_cite' },
    };
    // Of several definitions each is answered for.
    const both = await desk.done({ id: 'asks', ...task });
    expect(both.status).toBe('completed');
    expect(both.result).toMatch(/^kernel\/dma\/mapping.c#dma_pool_get is called at 1 place;/m);
    expect(both.result).toMatch(/^Nothing calls mm\/other.c#dma_pool_get\.$/m);
    const clarifications = [{ question: 'Which?', answer: 'kernel/dma/mapping.c#dma_pool_get' }];
    await desk.assign({ id: 'asks-again', ...task }, { change: { clarifications } });
    const { result } = await desk.response('asks-again');
    expect(result).toContain('- kernel/dma/mapping.c:12');
    expect(result).not.toContain('mm/other.c');
    const unknown = await desk.done({
      ...{ id: 'unknown', task: 'Find every caller of nic_imagined.' },
      grounding: { strategy: 'pgc_first' },
    });
    // Grounded first, and still unclear.
    expect(unknown.clarification_request).toMatch(/No symbol nic_imagined/);
    await desk.assign(
      {
        id: 'known',
        task: 'Find every caller of nic_imagined.',
        grounding: { strategy: 'pgc_cite' },
      },
      { change: { clarifications: [{ question: 'Which?', answer: 'I mean nic_setup_rx_ring.' }] } },
    );
    expect((await desk.response('known')).result).toMatch(
      /^nic_setup_rx_ring is called at 1 place;/,
    );
    const agent = await desk.done({ id: 'agent-asks', task: 'ASK', runner: 'agent' });
    expect(agent).toMatchObject({
      status: 'needs_clarification',
      clarification_request: 'Which ring?',
    });
  });

  test('an assignment that cannot be read is answered where its ids can, else it is a dead letter', async () => {
    await desk.assign({ id: 'bad', task: 'x' }, { change: { task: ' ' } });
    expect(await desk.response('bad')).toMatchObject({
      ...{ status: 'failed', reason: 'MALFORMED_PAYLOAD', attempt: 1 },
    });
    const { id } = await desk.client.post('agent:executor', 'task.assign', Buffer.from('nonsense'));
    await eventually(async () => {
      const { json } = await sigma(stage.home, ['dead', 'list', '--json']);
      expect(JSON.stringify(json)).toContain(id);
      // Who sent it is told.
      expect(desk.notices.join()).toMatch(
        new RegExp(`malformed_payload .*"id":"${id}".*"code":"MALFORMED_PAYLOAD"`),
      );
    });
    const unknown = await desk.client.post('agent:executor', 'greeting', Buffer.from('hello'));
    await eventually(() =>
      expect(desk.notices.join()).toMatch(
        new RegExp(`malformed_payload .*"id":"${unknown.id}".*"code":"UNKNOWN_TYPE"`),
      ),
    );
  });

  test('a folder outside of the root is refused, a failing program is a partial result', async () => {
    const outside = await desk.done({
      ...{ id: 'outside', task: 'x', runner: 'command' },
      action: { argv: ['ls'], cwd: '../..' },
    });
    expect(outside).toMatchObject({ status: 'failed', reason: 'ACTION_REFUSED', partial: false });
    const failing = await desk.done({
      ...{ id: 'failing', task: 'x', runner: 'command' },
      action: {
        argv: node(
          'console.log("half", process.cwd(), process.env.SECRET, process.env.LOG_LEVEL); process.exit(3)',
        ),
        ...{ cwd: 'below', env: { LOG_LEVEL: 'given' } },
      },
    });
    expect(failing).toMatchObject({ status: 'failed', reason: 'ACTION_FAILED', partial: true });
    expect(failing.result).toContain('exit code 3');
    expect(failing.result).toMatch(/half \S+\/place\/below undefined given/);
  });

  test('an agent may answer in the words of the protocol', async () => {
    const response = await desk.done({ id: 'structured', task: 'STRUCTURED', runner: 'agent' });
    expect(response).toMatchObject({ result: 'done', files_modified: ['a.c'], attempt: 1 });
    // Its folder is not under git: git cannot show whether that is so.
    expect(response.errors.map(({ code }) => code)).toEqual(['CHANGES_UNSEEN']);
    const cut = await desk.done({ id: 'cut', task: 'CUT', runner: 'agent' });
    expect(cut).toMatchObject({ status: 'failed', reason: 'MALFORMED_PAYLOAD', partial: true });
    // How near a citation is, is the PGC's to say; whose task and attempt it is, the assignment's.
    const inflated = await desk.done({
      ...{
        id: 'inflated',
        task: 'INFLATED: how does nic_setup_rx_ring allocate?',
        runner: 'agent',
      },
      grounding: { strategy: 'pgc_first' },
    });
    expect(inflated).toMatchObject({ result: 'done', attempt: 1 });
    const { citations, grounding_confidence } = inflated.grounding_evidence!;
    expect(citations.filter(({ similarity }) => similarity === 1)).toEqual([]);
    // What it cites stands alone and in its order: nothing else takes the place of it.
    expect(citations.map(({ relevance }) => relevance)).toEqual(['given', 'own']);
    expect(grounding_confidence).not.toBe('high');
  });
});

test('an order is not done by telling what the index holds', async () => {
  const order = { task: 'Rename the variable ring in nic_open to rx.' };
  const told = await desk.done({ id: 'order', ...order });
  expect(told).toMatchObject({ status: 'failed', reason: 'NOT_DONE', result: '' });
  expect(told.errors[0]?.text).toContain('executor.agent');
  const asked = await desk.done({ id: 'order-asked', ...order, kind: 'question' });
  expect(asked.status).toBe('completed');
});

test('a manager that is away is waited for, before the work and after it', async () => {
  const id = 'patient';
  await desk.assign({ id, task: 'x', runner: 'command', action: { argv: ['true'] } });
  await desk.response(id);
  const away = readTask(
    {
      id: 'away',
      task: 'x',
      runner: 'command',
      action: { argv: node('setTimeout(() => {}, 700)') },
    },
    'away',
  );
  const until_ms = Date.now() + 60_000;
  await desk.post({
    task: away,
    attempt: 1,
    lease_ms: 2_000,
    until_ms,
    manager: 'second-desk',
    ...{ grants: [], depth: 0, parent: 'me' },
  });
  // Nobody of that name has ever been there.
  let second = await Desk.open(stage.home, 'second-desk');
  await eventually(() => expect(second.claims).toContain('away/1'), 15_000);
  await second[Symbol.asyncDispose]();
  second = await Desk.open(stage.home, 'second-desk');
  expect((await second.response('away')).status).toBe('completed');
  await second[Symbol.asyncDispose]();
  expect(second.responses).toHaveLength(1);
}, 60_000);

test('what is delivered again after it was done is not done again', async () => {
  const file = path.join(place, 'twice');
  const script = `require('fs').appendFileSync(${JSON.stringify(file)}, 'x\\n')`;
  const task = { id: 'twice', task: 'x', runner: 'command', action: { argv: node(script) } };
  const assignment = {
    ...{ task: readTask(task, 'twice'), attempt: 1, lease_ms: 2_000 },
    ...{ until_ms: Date.now() + 60_000, manager: 'desk', grants: [], depth: 0, parent: 'me' },
  };
  await desk.post(assignment);
  await desk.response('twice');
  await desk.post(assignment);
  await desk.done({ ...task, id: 'not-twice', action: { argv: ['true'] } });
  expect(lines(file)).toHaveLength(1);
  expect(desk.claims.filter((each) => each === 'twice/1')).toHaveLength(1);
});

describe('programs and their ends', () => {
  /** Writes a line, says half of something, and stays, with a child of its own that bears the same name. */
  const stays = (file: string): string[] => [
    ...node(`
      require('child_process').spawn('sleep', ['300'], { argv0: ${JSON.stringify(file)}, detached: true });
      console.log('half');
      require('fs').appendFileSync(${JSON.stringify(file)}, (process.env.SIGMA_IDEMPOTENCY_KEY ?? '-') + '\\n');
      setInterval(() => {}, 1000);
    `),
    nameOf(file),
  ];

  test('one that takes too long is ended with its group; what it said is kept', async () => {
    const file = path.join(place, 'late');
    const response = await desk.done({
      ...{ id: 'late', task: 'x', runner: 'command', action: { argv: stays(file) } },
      limits: { timeout_ms: 1_500 },
    });
    expect(response).toMatchObject({ status: 'failed', reason: 'TASK_TIMED_OUT', partial: true });
    expect(response.result).toContain('half');
    await eventually(() => expect(living(file)).toEqual([]));
  });

  test('one whose task is withdrawn is ended with its group', async () => {
    const file = path.join(place, 'withdrawn');
    await desk.assign({ id: 'taken', task: 'x', runner: 'command', action: { argv: stays(file) } });
    await eventually(() => expect(lines(file)).toHaveLength(1), 15_000);
    await eventually(() => expect(desk.signs.join()).toContain('taken/1: running'), 15_000);
    // Somebody else has no say in it, neither by a withdrawal nor by a later attempt.
    const other = await Desk.open(stage.home, 'other-desk');
    await other.withdraw('taken');
    await other.assign(
      { id: 'taken', task: 'x', runner: 'command', action: { argv: ['true'] } },
      { attempt: 9 },
    );
    expect((await other.response('taken')).attempt).toBe(9);
    await other[Symbol.asyncDispose]();
    expect(living(file)).toHaveLength(2);
    await desk.withdraw('taken');
    await eventually(() => expect(living(file)).toEqual([]), 15_000);
    // Nobody waits for what it came to.
    await desk.done({
      id: 'after-taken',
      task: 'x',
      runner: 'command',
      action: { argv: ['true'] },
    });
    expect(desk.responses.filter(({ task_id }) => task_id === 'taken')).toEqual([]);
  });

  test('an executor that stood still, and lost its lease meanwhile, begins nothing', async () => {
    const file = path.join(place, 'frozen');
    const { pid } = executor.process;
    desk.leaseMs = 1_000;
    let claims = 0;
    desk.onClaim = (claim) => {
      if (claim !== 'frozen/1') return;
      claims += 1;
      if (claims > 1) return;
      process.kill(pid!, 'SIGSTOP');
      setTimeout(() => {
        desk.over.add('frozen/1');
        process.kill(pid!, 'SIGCONT');
      }, 1_300);
    };
    await desk.assign({
      id: 'frozen',
      task: 'x',
      runner: 'command',
      action: { argv: stays(file) },
    });
    await eventually(() => expect(claims).toBe(2), 20_000);
    desk.leaseMs = 2_000;
    desk.onClaim = () => undefined;
    await desk.done({ id: 'thawed', task: 'x', runner: 'command', action: { argv: ['true'] } });
    expect(existsSync(file)).toBe(false);
    expect(desk.responses.filter(({ task_id }) => task_id === 'frozen')).toEqual([]);
  }, 60_000);

  test('one that leaves begins nothing more: what comes meanwhile is done by the next', async () => {
    const file = path.join(place, 'stubborn');
    const argv = node(`
      process.on('SIGTERM', () => {});
      require('fs').appendFileSync(${JSON.stringify(file)}, process.pid + '\\n');
      setInterval(() => {}, 1000);
    `);
    await desk.assign({ id: 'stubborn', task: 'x', runner: 'command', action: { argv } });
    await eventually(() => expect(lines(file)).toHaveLength(1), 15_000);
    executor.process.kill('SIGTERM');
    const action = { argv: node('setTimeout(() => console.log("whole"), 3000)') };
    await desk.assign({ id: 'meanwhile', task: 'x', runner: 'command', action });
    await executor.ended;
    await restart();
    expect(await desk.response('meanwhile')).toMatchObject({ status: 'completed' });
    expect(await desk.response('stubborn')).toMatchObject({ reason: 'OUTCOME_UNKNOWN' });
    expect(living(file)).toEqual([]);
  }, 60_000);

  test('a lease that is lost ends the work without a word', async () => {
    const file = path.join(place, 'stale');
    await desk.assign({ id: 'stale', task: 'x', runner: 'command', action: { argv: stays(file) } });
    await eventually(() => expect(lines(file)).toHaveLength(1), 15_000);
    desk.over.add('stale/1');
    await eventually(() => expect(living(file)).toEqual([]), 15_000);
    // The next one is answered: nothing was left behind in its slot.
    expect(
      (await desk.done({ id: 'after', task: 'x', runner: 'command', action: { argv: ['true'] } }))
        .status,
    ).toBe('completed');
    expect(desk.responses.filter(({ task_id }) => task_id === 'stale')).toEqual([]);
  });

  test('they die with an executor that is killed, and are begun again only where that is allowed', async () => {
    const once = path.join(place, 'once');
    const keyed = path.join(place, 'keyed');
    const action = { argv: stays(once) };
    await desk.assign({ id: 'once', task: 'x', runner: 'command', action });
    await desk.assign({
      ...{ id: 'keyed', task: 'x', runner: 'command' },
      action: { argv: stays(keyed), idempotency_key: 'key-1' },
    });
    await eventually(
      () => expect([lines(once).length, lines(keyed).length]).toEqual([1, 1]),
      15_000,
    );
    executor.process.kill('SIGKILL');
    await executor.ended;
    await eventually(() => expect([...living(once), ...living(keyed)]).toEqual([]), 10_000);
    await restart();
    expect(await desk.response('once')).toMatchObject({
      ...{ status: 'blocked', reason: 'OUTCOME_UNKNOWN', attempt: 1 },
    });
    expect(desk.claims.filter((each) => each === 'once/1')).toHaveLength(2);
    await eventually(() => expect(lines(keyed)).toHaveLength(2), 15_000);
    expect(lines(keyed)).toEqual(['key-1', 'key-1']);
    expect(lines(once)).toHaveLength(1);
    await desk.withdraw('keyed');
    await eventually(() => expect(living(keyed)).toEqual([]), 15_000);
  }, 60_000);
});
