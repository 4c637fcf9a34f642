import { describe, expect, test } from 'vitest';
import { BusError } from '../../../src/errors/bus-error.js';
import { examinePrompt, parsePrompt } from '../../../src/prompt/grammar/parse.js';
import { printPrompt } from '../../../src/prompt/grammar/print.js';
import { promptLimits, type PushCommand } from '../../../src/prompt/grammar/shapes.js';

const read = (line: number, path: string): object => ({ command: 'read', path, line, column: 1 });
const push = (line: number, prompt: string, more: Partial<PushCommand> = {}): object => ({
  command: 'push',
  prompt,
  name: '',
  model: '',
  timeoutMs: 0,
  line,
  column: 1,
  ...more,
});
const run = (line: number, more: object = {}): object => ({
  command: 'run',
  count: 0,
  timeoutMs: 0,
  concurrency: 0,
  line,
  column: 1,
  ...more,
});

describe('the examples of the design document', () => {
  test('three phases', () => {
    const text = `/read project/design.md
/push name=prep "Prep task"
/run

Implement the feature.
Use patterns from the docs.

/push name=tests "Write tests"
`;
    expect(parsePrompt(text)).toEqual({
      setup: [read(1, 'project/design.md'), push(2, 'Prep task', { name: 'prep' }), run(3)],
      content: 'Implement the feature.\nUse patterns from the docs.',
      teardown: [push(8, 'Write tests', { name: 'tests' })],
    });
  });

  test('a worker', () => {
    const content = `Implement JWT validation in src/auth/token.c.
Follow the patterns in the docs above.
Write tests in tests/unit/test_token.c.
Run make check to verify.`;
    expect(
      parsePrompt(`/read src/auth/README.md\n/read project/auth-design.md\n${content}\n`),
    ).toEqual({
      setup: [read(1, 'src/auth/README.md'), read(2, 'project/auth-design.md')],
      content,
      teardown: [],
    });
  });

  test('an orchestrator: what the prose says of /check stays prose', () => {
    const content = `Analyze the requirements above.
Check research results with /check and incorporate findings.
Decide on best approach and document in DECISION.md.`;
    const text = `/read project/requirements.md
/push name=research-a "Research approach A"
/push name=research-b "Research approach B"
/run
${content}
/push name=implement "Implement the chosen approach from DECISION.md"`;
    expect(parsePrompt(text)).toEqual({
      setup: [
        read(1, 'project/requirements.md'),
        push(2, 'Research approach A', { name: 'research-a' }),
        push(3, 'Research approach B', { name: 'research-b' }),
        run(4),
      ],
      content,
      teardown: [push(8, 'Implement the chosen approach from DECISION.md', { name: 'implement' })],
    });
  });

  test('a pipeline: the pushed prompt is a prompt itself, read when it runs', () => {
    const text = `/read project/task-spec.md
Complete Phase 1 of the task spec.
Verify all Phase 1 criteria pass.
/push name=phase2 "/read project/task-spec.md\\nComplete Phase 2 of the task spec."`;
    const { teardown } = parsePrompt(text);
    expect(teardown).toEqual([
      push(4, '/read project/task-spec.md\nComplete Phase 2 of the task spec.', {
        name: 'phase2',
      }),
    ]);
    expect(parsePrompt(teardown[0]!.prompt)).toEqual({
      setup: [read(1, 'project/task-spec.md')],
      content: 'Complete Phase 2 of the task spec.',
      teardown: [],
    });
  });

  test('personas and skills', () => {
    const paths = [
      '.agents/personas/worker.md',
      '.agents/skills/tdd-workflow.md',
      'project/feature-spec.md',
    ];
    const content = 'Implement the feature following TDD workflow.';
    const text = [...paths.map((path) => `/read ${path}`), content].join('\n');
    const setup = paths.map((path, at) => read(at + 1, path));
    expect(parsePrompt(text)).toEqual({ setup, content, teardown: [] });
  });
});

test.each<[what: string, text: string, command: object]>([
  ['the rest of the line', '/push  do it, "now" name=x ', push(1, 'do it, "now" name=x')],
  ['a backslash outside of quotes', '/push a\\nb', push(1, 'a\\nb')],
  ['escapes', '/push "a\\n\\t\\"\\\\b"', push(1, 'a\n\t"\\b')],
  [
    'options in another order',
    '/push timeout=90 model=qwen2.5:7b name=a_1-b go',
    push(1, 'go', { timeoutMs: 90_000, model: 'qwen2.5:7b', name: 'a_1-b' }),
  ],
  ['an option-like prompt in quotes', '/push "x=1 fails"', push(1, 'x=1 fails')],
  ['a comparison', '/push X=1 fails', push(1, 'X=1 fails')],
  ['tabs', '/push\tname=a\tgo\t', push(1, 'go', { name: 'a' })],
  ['a path with spaces', '/read "my files/a b.md"', read(1, 'my files/a b.md')],
  ['a quote in a path', '/read a"b', read(1, 'a"b')],
  ['an equals sign in a path', '/read a=b', read(1, 'a=b')],
  ['a count', '/run 2', run(1, { count: 2 })],
  [
    'a count between options',
    '/run timeout=5 3 concurrency=2',
    run(1, { count: 3, timeoutMs: 5000, concurrency: 2 }),
  ],
  ['CRLF', '/run 7\r\n', run(1, { count: 7 })],
])('a command with %s', (_, text, command) => {
  expect(parsePrompt(text)).toEqual({ setup: [command], content: '', teardown: [] });
});

test.each<[what: string, text: string, content: string]>([
  ['nothing', '', ''],
  ['blank lines', '\n \t\r\n\n', ''],
  ['blank lines around it', '\n\n  a \n\n b\t\n \n', '  a \n\n b\t'],
  ['CRLF', 'a\r\nb\r\r\nc\rd\r', 'a\nb\nc\rd'],
  [
    'paths at the edges',
    '/etc/hosts is wrong\nsee\n/usr/bin',
    '/etc/hosts is wrong\nsee\n/usr/bin',
  ],
  ['words that are none', '/2 y\n/read_me', '/2 y\n/read_me'],
  ['an indented command', ' /run', ' /run'],
  ['commands within', 'a\n/push b\n/check\n/reed\nc', 'a\n/push b\n/check\n/reed\nc'],
  ['an escaped command', '//read x', '/read x'],
  ['an escaped path', '//etc/hosts is wrong', '/etc/hosts is wrong'],
  [
    'escapes at both edges',
    '//read x\n\n//y\nz\n//push a\n//push b',
    '/read x\n\n/y\nz\n/push a\n/push b',
  ],
  ['an escape before a command', '//read x\n/run\nz', '/read x\n/run\nz'],
  ['two slashes that are meant', '///push', '//push'],
  ['comments of code', '// a\nx\n//todo y\nz\n//', '// a\nx\n//todo y\nz\n//'],
])('content of %s', (_, text, content) => {
  const prompt = parsePrompt(text);
  expect(prompt).toEqual({ setup: [], content, teardown: [] });
  expect(parsePrompt(printPrompt(prompt))).toEqual(prompt);
});

test('places count blank lines, and printing keeps them', () => {
  const prompt = parsePrompt('\n/read a\r\n\n\n/run\n\nb\n\n\n/push c\n\n');
  expect(prompt).toEqual({
    setup: [read(2, 'a'), run(5)],
    content: 'b',
    teardown: [push(10, 'c')],
  });
  expect(printPrompt(prompt)).toBe('\n/read a\n\n\n/run\nb\n\n\n\n/push c');
});

const name = 'name: lower case letters';
test.each<[text: string, ...problems: [line: number, column: number, expected: string][]]>([
  [
    '/reed x',
    [
      1,
      1,
      'one of /read, /push, /run before the content (a line of the content that begins so is written //reed)',
    ],
  ],
  ['/check', [1, 1, 'one of /read, /push, /run']],
  ['/Read x', [1, 1, 'one of /read']],
  ['x\n/PUSH y', [2, 1, '/push, the one command behind the content']],
  ['\n/run\n/receive\nx', [3, 1, 'one of /read']],
  ['x\n\n/run', [3, 1, '/push, the one command behind the content']],
  ['x\n/read a\r\n/push b', [2, 1, '/push, the one']],
  ['x\n/send a b', [2, 1, '/push, the one']],
  ['/etc', [1, 1, 'one of']],
  ['/read', [1, 6, 'the path of a file']],
  ['/read  ', [1, 8, 'the path of a file']],
  ['/read ""', [1, 7, 'the path of a file']],
  ['/read a b', [1, 9, 'one path']],
  ['/read "a" b', [1, 11, 'nothing behind the path']],
  ['/read "a', [1, 7, 'a closing quote']],
  ['/read a\0b', [1, 7, 'a path without NUL']],
  [`/read ${'a'.repeat(promptLimits.pathChars + 1)}`, [1, 7, 'a path of at most 4096']],
  ['/push', [1, 6, 'a prompt']],
  ['/push name=a', [1, 13, 'a prompt']],
  ['/push " \\n\\t"', [1, 7, 'a prompt']],
  ['/push "a" name=b', [1, 11, 'nothing behind the prompt: options stand before it']],
  ['/push "a"b', [1, 10, 'nothing behind the prompt']],
  ['/push "a\\"', [1, 7, 'a closing quote']],
  ['/push "語😀\\q"', [1, 10, 'one of \\n, \\t']],
  ['/push nmae=a go', [1, 7, 'one of the options name, model, timeout']],
  ['/push concurrency=2 go', [1, 7, 'one of the options name']],
  ['/push constructor=2 go', [1, 7, 'one of the options name']],
  ['/push name=a name=b go', [1, 14, 'the option name once']],
  ['/push name=A go', [1, 12, name]],
  ['/push name= go', [1, 12, name]],
  [`/push name=${'a'.repeat(97)} go`, [1, 12, name]],
  ['/push model=a,b go', [1, 13, 'model: the name of a model']],
  [`/push model=${'a'.repeat(201)} go`, [1, 13, 'model: ']],
  ['/push timeout=0 go', [1, 15, 'timeout: a whole number from 1 to 86400']],
  ['/push timeout=1.5 go', [1, 15, 'timeout: ']],
  ['/push timeout=86401 go', [1, 15, 'timeout: ']],
  [`/push timeout=${'9'.repeat(400)} go`, [1, 15, 'timeout: ']],
  [`/push ${'a'.repeat(promptLimits.pushedChars + 1)}`, [1, 7, 'a prompt of at most 16000']],
  [`/push "${'\\n'.repeat(promptLimits.lineChars / 2)}"`, [1, 1, 'a command of at most 33000']],
  [
    '/push name=a b\nx\n/push name=a c',
    [3, 1, 'a name that no other /push of the prompt has, not a'],
  ],
  ['/run 0', [1, 6, 'the number of tasks, a whole number from 1 to 1000, or an option']],
  ['/run 1001', [1, 6, 'the number of tasks']],
  ['/run -1', [1, 6, 'the number of tasks']],
  ['/run all', [1, 6, 'the number of tasks']],
  ['/run 1 2', [1, 8, 'one number of tasks']],
  ['/run name=a', [1, 6, 'one of the options timeout, concurrency']],
  ['/run concurrency=0', [1, 18, 'concurrency: a whole']],
  ['/run timeout=1 5 timeout=2', [1, 18, 'the option timeout once']],
  [
    '/reed\n/run x y=1\n\n/push name=A "\\q"\nprose\n/run\n/push',
    [1, 1, 'one of'],
    [2, 6, 'the number'],
    [2, 8, 'one of the options timeout'],
    [4, 12, name],
    [4, 15, 'one of \\n'],
    [6, 1, '/push, the one'],
    [7, 6, 'a prompt'],
  ],
  [`${'/run\n'.repeat(promptLimits.commands)}\nx\n/push y`, [67, 1, '64 commands at most']],
])('%j is refused at its places', (text, ...problems) => {
  const examined = examinePrompt(text);
  const found = 'problems' in examined ? examined.problems : [];
  expect(found.map(({ line, column }) => [line, column])).toEqual(
    problems.map(([line, column]) => [line, column]),
  );
  for (const [at, [, , expected]] of problems.entries())
    expect(found[at]!.expected.slice(0, expected.length)).toBe(expected);
});

test('the error tells the first place as data and all of them as text', () => {
  let error: unknown;
  try {
    parsePrompt('/reed x\ny\n/run');
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(BusError);
  expect(error).toMatchObject({
    code: 'PROMPT_INVALID',
    data: { line: 1, column: 1, problems: 2 },
  });
  expect((error as BusError).message).toMatch(
    /line 1, column 1: expected one of .*\/\/reed.*; line 3, column 1: expected \/push/,
  );
});

test('a prompt beyond its bytes is too large, at them it is not', () => {
  const text = 'é'.repeat(promptLimits.bytes / 2);
  expect(parsePrompt(text).content).toBe(text);
  expect(() => parsePrompt(`${text}a`)).toThrow(
    new BusError('TOO_LARGE', { what: 'a prompt', bytes: 262_145, limit: 262_144 }),
  );
});

test('of very many problems the first are told', () => {
  const examined = examinePrompt('/reed\n'.repeat(60));
  expect('problems' in examined && examined.problems.length).toBe(promptLimits.problems);
});
