import { expect, test } from 'vitest';
import { markdownOf, renderAnswer } from '../../../src/render/answer.js';
import type { Answer, Evidence, FlowEdge, Hop, Via } from '../../../src/pgc/shapes.js';

function evidence(id: number, more: Partial<Evidence> = {}): Evidence {
  return {
    ...{ id, kind: 'function', name: 'nic_open', container: '', said: 'brings it up' },
    excerpt: [
      { line: 9, text: 'int nic_open(struct nic *nic)', decides: false },
      { line: 12, text: '\treturn nic_setup(nic);', decides: true },
    ],
    why: ['words: open'],
    ...{ overlay: 'O1', section: 'O1', text: '', content: '', symbol: 'nic_open', blob: '' },
    ...{ similarity: 0.9, weight: 1, file_path: 'nic.c', line_start: 9, line_end: 12 },
    ...{ agent: 'drivers', ...more },
  };
}

const call = (id: number, from: string, line: number): Evidence => {
  const place = { file_path: 'nic.c', line_start: line, line_end: line };
  const excerpt = [{ line, text: '\tnic_log("x");', decides: true }];
  const how = { kind: 'call', name: 'nic_log', container: from, said: '', why: [] };
  return evidence(id, { ...place, ...how, excerpt });
};

const edge = (from: string, line: number, id: number): FlowEdge => ({
  ...{ from, to: 'nic_log', site: `nic.c:${line}`, kind: 'call', agent: 'drivers' },
  ...{ certainty: 'exact', evidence: id, definition: 'log.c:3' },
});

function answerOf(all: Evidence[], more: Partial<Answer> = {}): Answer {
  return {
    question: 'q',
    clauses: [{ text: 'q', status: 'found', evidence: [1] }],
    evidence: all,
    ...{
      flow: [],
      unsure: [],
      next: [],
      prose: '',
      confidence: 'high',
      likelihood: 0.9,
      partial: false,
    },
    query_intent: { intent: 'general', entities: [], scope: '', refined_query: '' },
    ...{
      left_out: [],
      overlay_warnings: [],
      errors: [],
      query_path: [],
      hops: [],
      safety: null,
      root: '',
    },
    metadata: {
      ...{ question_hash: '', top_k: 5, elapsed_ms: 12.3, index_version: '', engine: 'extractive' },
      ...{ cached: false, agents_asked: 1, model: null },
    },
    ...more,
  };
}

const both = (answer: Answer): string[] => [renderAnswer(answer), markdownOf(answer)];

test('an answer says of which state of the index it is', () => {
  const answer = answerOf([evidence(1)]);
  const ends = ['a.1+b.1', 'a.1+b.1', 'a.1+b.2'].map((index_version) => {
    const { metadata } = answer;
    return renderAnswer({ ...answer, metadata: { ...metadata, index_version } })
      .split('\n')
      .at(-1);
  });
  expect(ends[0]).toMatch(/^1 agent asked · 12 ms · index [0-9a-f]{7}$/);
  expect(ends[1]).toBe(ends[0]);
  expect(ends[2]).not.toBe(ends[0]);
});

test('a symbol is shown with its place, what is said of it, and the lines that decide', () => {
  const [terminal, markdown] = both(answerOf([evidence(1)]));
  expect(terminal!.split('\n')).toEqual([
    'Found 1 place in 1 file, confidence high.',
    '',
    '[1] nic.c:9-12  nic_open (function)  (words: open)',
    '    brings it up',
    '       9  int nic_open(struct nic *nic)',
    '       …',
    '    > 12    return nic_setup(nic);',
    '',
    '1 agent asked · 12 ms',
  ]);
  expect(markdown!.split('\n')).toEqual([
    'Found 1 place in 1 file, confidence high.',
    '',
    '[1] `nic.c:9-12`  nic_open (function)  (words: open)',
    '    brings it up',
    '```',
    '       9  int nic_open(struct nic *nic)',
    '       …',
    '    > 12    return nic_setup(nic);',
    '```',
    '',
    '1 agent asked · 12 ms',
  ]);
});

test('callers are shown as flow, with what is missing and how to get it', () => {
  const answer = answerOf([call(1, 'nic_open', 20), call(2, 'nic_reset', 30)], {
    flow: [
      edge('nic_open', 20, 1),
      { ...edge('nic_reset', 30, 2), certainty: 'possible', definition: '' },
    ],
    unsure: [{ kind: 'sites', text: 'nic_log is called at 3 further sites' }],
    next: [
      { operation: 'callers', arguments: { symbol: 'log.c#nic_log' }, why: 'all 5 call sites' },
    ],
  });
  const [terminal, markdown] = both(answer);
  expect(terminal).toContain(
    '\nFlow\n' +
      '  nic_open calls nic_log at nic.c:20, defined at log.c:3 [1]\n' +
      '  nic_reset calls nic_log at nic.c:30, possible [2]\n',
  );
  expect(terminal).toContain('\n[1] nic.c:20  nic_open calls nic_log\n    > 20    nic_log("x");\n');
  expect(terminal).toContain(
    '\nNot shown\n  nic_log is called at 3 further sites\n' +
      '\nNext\n  sigma callers "log.c#nic_log"  (all 5 call sites)\n',
  );
  expect(markdown).toContain(
    '\n**Flow**\n  `nic_open` calls `nic_log` at nic.c:20, defined at log.c:3 [1]\n',
  );
  expect(markdown).toContain('\n  `callers(symbol="log.c#nic_log")`  (all 5 call sites)\n');
});

test('a long flow is cut, and its rest counted', () => {
  const flow = Array.from({ length: 14 }, (_, at) => edge('nic_open', at + 1, 1));
  for (const text of both(answerOf([evidence(1)], { flow }))) {
    expect(text.match(/ calls /g)).toHaveLength(12);
    expect(text).toContain('  and 2 further calls\n');
  }
  // What no evidence shows stands nowhere else.
  const whole = [...flow, edge('nic_probe', 20, 0)];
  for (const text of both(answerOf([evidence(1)], { flow: whole })))
    expect(text.match(/ calls /g)).toHaveLength(15);
});

test('a weak answer says first that it is only the nearest, and what of the question is not answered', () => {
  const answer = answerOf([evidence(1, { similarity: 0.3 })], {
    clauses: [
      { text: 'Who opens it?', status: 'partly', evidence: [1] },
      { text: 'Who pays <b>?', status: 'not_found', evidence: [] },
    ],
    unsure: [{ kind: 'weak', text: 'nothing here clearly answers the question' }],
    confidence: 'low',
  });
  const [terminal, markdown] = both(answer);
  expect(terminal!.split('\n').slice(0, 3)).toEqual([
    'Nothing here clearly answers the question; nearest are 1 place in 1 file, confidence low.',
    'partly found: Who opens it?',
    'not found: Who pays <b>?',
  ]);
  expect(markdown).toContain('\nnot found: Who pays \\<b\\>?\n');
  expect(terminal).not.toContain('Not shown');
});

test('where nothing was found the answer says so, with its notes and errors', () => {
  const nothing = answerOf([], {
    left_out: [{ overlay: 'O4', why: 'it is gone' }],
    overlay_warnings: ['No word of the question stands anywhere in drivers.'],
    errors: [{ code: 'NOT_FOUND', text: 'nothing found', retryable: false, agent: 'drivers' }],
    confidence: 'low',
    partial: true,
  });
  expect(renderAnswer(nothing).split('\n')).toEqual([
    'Found nothing in the indexed code that answers the question.',
    'note: O4 was not consulted: it is gone.',
    'note: No word of the question stands anywhere in drivers.',
    'NOT_FOUND: nothing found',
    '',
    '1 agent asked · 12 ms · partial: not every agent answered',
  ]);
  expect(markdownOf(nothing)).toContain('\nNOT_FOUND: nothing found\n');
});

const via: Via = {
  ...{ symbol: 'rdmsr_on_cpu', from: 'drivers/coretemp.c:7', to: 'arch/msr-smp.c:3' },
  ...{ from_agent: 'drivers', chain: [], relevance: 0.5 },
};
const hop = (agent: string, ids: number[], led: Via | null = null): Hop => ({
  ...{ agent, scope: [agent], evidence: ids, via: led, elapsed_ms: 1 },
});

test('the way through several shards says what led to each and what is from there; then comes all evidence', () => {
  const visited = ['drivers', 'arch', 'thermal'];
  const all = visited.map((agent, at) => evidence(at + 1, { agent, name: `of_${agent}` }));
  const hops = [hop('drivers', [1]), hop('arch', [2], via), hop('thermal', [3])];
  const safety = { max_hops: 6, actual_hops: 3, visited_agents: visited };
  const answer = answerOf(all, { hops, query_path: visited, safety });
  const [terminal, markdown] = both(answer);
  expect(terminal!.match(/^(?:Way| {2}\d\. .*|\[\d\].*\))$/gm)).toEqual([
    'Way',
    '  1. drivers: [1]',
    '  2. arch, by rdmsr_on_cpu: [2]',
    '  3. thermal, found by search: [3]',
    '[1] nic.c:9-12  of_drivers (function)  (words: open)',
    '[2] nic.c:9-12  of_arch (function)  (words: open)',
    '[3] nic.c:9-12  of_thermal (function)  (words: open)',
  ]);
  expect(terminal).toMatch(/^3 of at most 6 agents visited: drivers → arch → thermal · 1 agent/m);
  expect(markdown).toContain('\n**Way**\n  1. drivers: [1]\n  2. arch, by `rdmsr_on_cpu`: [2]\n');
});

test('what search found stands in its order beside what the way shows', () => {
  const all = [1, 2, 3].map((id) => evidence(id, { name: `of_${id}` }));
  const hops = [hop('drivers', [2]), hop('arch', [])];
  const answer = answerOf(all, { hops, query_path: ['drivers', 'arch'] });
  const lines = renderAnswer(answer).match(/^(?: {2}\d\. .+|\[\d\])/gm);
  expect(lines).toEqual(['  1. drivers: [2]', '  2. arch, found by search', '[1]', '[2]', '[3]']);
});

test('the prose of a model keeps its lines, and the footer says what it took', () => {
  const { metadata } = answerOf([]);
  const model = { name: 'small', dropped: 2, tokens: 84, texts: [] };
  const answer = answerOf([evidence(1)], {
    prose: 'It opens [1].\n\n- first\n- `second` [1]',
    metadata: { ...metadata, engine: 'extractive+model:small', model },
  });
  for (const text of both(answer)) {
    expect(text).toContain('\n\nIt opens [1].\n\n- first\n- `second` [1]\n');
    expect(text).toContain(
      'extractive+model:small · 84 tokens · 2 sentences without evidence dropped',
    );
  }
});

const hostile =
  'a`b <script>alert(1)</script> ![x](http://e.vil) **c** __d__ e_f \u001b[31m \u202e \n# g';

test.each([
  ['# a', '\\# a'],
  ['###### a', '\\###### a'],
  ['#include <a.h>', '#include \\<a.h\\>'],
  ['- a - b', '\\- a - b'],
  ['+ a', '\\+ a'],
  ['--flag', '--flag'],
  ['---', '\\---'],
  ['==', '\\=='],
  ['> a', '\\> a'],
  ['12. a', '12\\. a'],
  ['1) a', '1\\) a'],
  ['1.5 of a', '1.5 of a'],
  ['~~~ a', '\\~\\~\\~ a'],
  ['~~a~~ ~b~', '\\~\\~a\\~\\~ \\~b\\~'],
  ['| a | b |', '\\| a \\| b \\|'],
  ['![a](b)', '!\\[a\\](b)'],
  ['&lt;b&gt; &#60; a && b & c', '\\&lt;b\\&gt; \\&#60; a && b & c'],
])('%j in code is no markup', (text, escaped) => {
  const answer = answerOf([evidence(1)], { unsure: [{ kind: 'sites', text }] });
  const [terminal, markdown] = both(answer);
  expect(terminal).toContain(`\n  ${text}\n`);
  expect(markdown).toContain(`\n  ${escaped}\n`);
});

test('foreign text is never obeyed by a terminal, nor read as markup', () => {
  const strange = evidence(1, {
    ...{ name: hostile, container: hostile, said: `${hostile} said`, why: [hostile] },
    file_path: hostile,
    excerpt: [{ line: 1, text: `\`\`\`\` ${hostile}`, decides: true }],
  });
  const error = { code: 'X', text: hostile, retryable: false, agent: hostile };
  const { metadata } = answerOf([]);
  const answer = answerOf([strange], {
    prose: `\`\`\`\n~~~\n${hostile.replace(/[`\n]/g, '')}`,
    clauses: [
      { text: hostile, status: 'partly', evidence: [1] },
      { text: hostile, status: 'not_found', evidence: [] },
    ],
    flow: [
      {
        ...{ from: hostile, to: hostile, site: hostile, definition: hostile, agent: hostile },
        ...{ kind: 'call', certainty: 'exact', evidence: 1 },
      },
    ],
    unsure: [{ kind: 'sites', text: hostile }],
    next: [{ operation: 'callers', arguments: { symbol: hostile }, why: hostile }],
    left_out: [{ overlay: hostile, why: hostile }],
    overlay_warnings: [hostile],
    errors: [error],
    ...{ hops: [hop(hostile, [1], { ...via, symbol: hostile })], query_path: [hostile] },
    safety: { max_hops: 1, actual_hops: 1, visited_agents: [hostile] },
    metadata: {
      ...metadata,
      engine: hostile,
      model: { name: hostile, dropped: 0, tokens: 1, texts: [] },
    },
  });
  const [terminal, markdown] = both(answer);
  for (const text of [terminal, markdown])
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  for (const text of [terminal, markdown]) expect(text).not.toMatch(/^# g/m);
  // In a shell the word that is offered to be copied stays one word.
  expect(terminal).toContain(`sigma callers 'a\`b <script>`);
  const lines = markdown!.split('\n');
  const [begin, end] = lines.flatMap((line, at) => (/^`{5}$/.test(line) ? [at] : []));
  expect(end! - begin!).toBe(2);
  const outside = [...lines.slice(0, begin), ...lines.slice(end! + 1)].join('\n');
  expect(outside).not.toMatch(/^\s*(?:`{3}|~{3})/m);
  const unquoted = outside.replace(/(?<!\\)`[^`\n]*`/g, '');
  expect(unquoted).not.toMatch(/(?<!\\)[<>`]/);
  expect(unquoted).not.toMatch(/(?<!\\)\]\(/);
  expect(outside).toContain(
    '\n    a\\`b \\<script\\>alert(1)\\</script\\> !\\[x\\](http://e.vil) \\*\\*c\\*\\* \\_\\_d\\_\\_ e_f ?',
  );
});
