import type { Client as McpClient } from '@modelcontextprotocol/client';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failureOf, stdioClient } from '../support/mcp.js';
import { ModelServer } from '../support/model-server.js';
import { chainRepository } from '../support/repository.js';
import type { Running } from '../support/sigma.js';
import { Stack } from '../support/stack.js';

const claims = `# Notes

\`nic_open\` calls \`nic_setup_rx_ring\`.

\`drivers/nic/nic_main.c:900\` opens the device.
`;
let repository: ReturnType<typeof chainRepository>;
let server: ModelServer;
let stack: Stack;
let critic: Running;
/** Of the whole tree, and of a folder in it. */
let whole: McpClient;
let part: McpClient;

/** A tree that an agent serves; a critic whose model answers when it is told to. */
beforeAll(async () => {
  repository = chainRepository();
  const { home, root, plan } = repository;
  mkdirSync(path.join(root, 'drivers/docs'), { recursive: true });
  writeFileSync(path.join(root, 'drivers/docs/notes.md'), claims);
  writeFileSync(path.join(root, 'secret.md'), 'not of the drivers');
  symlinkSync('../secret.md', path.join(root, 'drivers/leads-out.md'));
  stack = await Stack.open(home, ['manager'], { root, plan });
  critic = await stack.start(['agent', 'critic']);
  server = await ModelServer.open();
  whole = await stdioClient(home, { cwd: root, args: ['--as', 'whole'] });
  part = await stdioClient(home, { cwd: path.join(root, 'drivers'), args: ['--as', 'part'] });
}, 90_000);

afterAll(async () => {
  await part.close();
  await whole.close();
  await stack[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  repository.remove();
});

const called = (mcp: McpClient, name: string, args: object): Promise<any> =>
  mcp.callTool({ name, arguments: args as Record<string, unknown> });
const verified = { modes: ['chain-of-verification'] };
const found = ({ structuredContent }: any): [string, number, string][] =>
  structuredContent.findings.map((each: any) => [
    each.rule,
    each.line_start,
    each.evidence[0]?.file_path,
  ]);

test('a file is read and held against the running lattice, also from a folder within its tree', async () => {
  const contradicted = [['CLAIM_CONTRADICTED', 5, 'drivers/nic/nic_main.c']];
  const answer = await called(whole, 'critique', {
    ...{ path: 'drivers/docs/notes.md', sections: true },
    ...verified,
  });
  expect(found(answer)).toEqual(contradicted);
  expect(answer.structuredContent.flags.map(({ code }: any) => code)).not.toContain(
    'GROUND_MISSING',
  );
  const inner = await called(part, 'critique', { path: 'docs/notes.md', ...verified });
  expect(inner.structuredContent.artifact).toBe('drivers/docs/notes.md');
  expect(found(inner)).toEqual(contradicted);
  expect(inner.content[0].text).toContain('drivers/docs/notes.md:5');
  expect(inner.structuredContent.sections).toEqual([]);
  expect(answer.structuredContent.sections).toContainEqual({
    mode: 'chain-of-verification',
    title: 'Verification Summary',
    text: expect.stringContaining('1 wrong') as string,
  });
  expect(answer.content[0].text).toContain('## Verification Summary (chain-of-verification)');
  // One file has one history, whoever asks from where.
  for (const [mcp, name] of [
    [whole, 'drivers/docs/notes.md'],
    [part, 'docs/notes.md'],
    [part, 'drivers/docs/notes.md'],
  ] as const) {
    const { structuredContent } = await called(mcp, 'critique_history', { path: name });
    expect(structuredContent.iterations).toHaveLength(2);
  }
}, 60_000);

test('a text is reviewed as it is given, and nothing is read', async () => {
  const text = '# Answer\n\n`drivers/nic/nic_main.c:900` opens the device.\n';
  const answer = await called(part, 'critique', { path: 'answer.md', text, ...verified });
  expect(found(answer)).toEqual([['CLAIM_CONTRADICTED', 3, 'drivers/nic/nic_main.c']]);
  const listed = await called(part, 'critique_history', {});
  const names = listed.structuredContent.artifacts.map(({ artifact }: any) => artifact);
  expect(names).toContain('drivers/answer.md');
}, 60_000);

test.each([
  ['../secret.md', 'READ_OUTSIDE'],
  ['leads-out.md', 'READ_OUTSIDE'],
  ['/etc/hostname', 'READ_OUTSIDE'],
  ['none.md', 'READ_MISSING'],
  ['nic', 'READ_NOT_A_FILE'],
])('%s is refused with %s', async (name, code) => {
  expect(failureOf(await called(part, 'critique', { path: name })).code).toBe(code);
});

test.each([
  [{ path: 'docs/notes.md', modes: ['blue-team'] }, 'TOOL_INPUT'],
  [{ path: 'docs/notes.md', threshold: 2 }, 'TOOL_INPUT'],
  [{ path: 'docs/notes.md', id: 'a/b' }, 'REVIEW_INVALID'],
  [{ path: 'docs/notes.md', modes: ['fmea', 'fmea'] }, 'REVIEW_INVALID'],
])('critique %j is refused with %s', async (args, code) => {
  expect(failureOf(await called(part, 'critique', args)).code).toBe(code);
});

test('nothing is known of what was never reviewed', async () => {
  const answer = await called(part, 'critique_history', { path: 'none.md' });
  expect(failureOf(answer).code).toBe('NO_SUCH_ARTIFACT');
});

test('one id is one review, and another text under it is refused', async () => {
  const asked = { path: 'docs/notes.md', id: 'mine', ...verified };
  const [one, two] = [await called(part, 'critique', asked), await called(part, 'critique', asked)];
  expect(two.structuredContent).toEqual(one.structuredContent);
  const other = await called(part, 'critique', { ...asked, text: 'something else' });
  expect(failureOf(other).code).toBe('REVIEW_CHANGED');
}, 60_000);

test('a review that takes longer than the wait goes on, and is asked for again by its id', async () => {
  const { home } = repository;
  await stack.stop(critic);
  const model = { url: server.url, model: 'm' };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ model }));
  const sections = ['Issue Summary', 'Issue Details', 'Revision Priority'];
  const said = [...sections, 'Self-Assessment Confidence'].map((title) => ({ title, text: 'ok' }));
  const text = JSON.stringify({ sections: said, findings: [], scores: [] });
  await server.play([{ times: 1, answer: { delayMs: 2_000, text } }]);
  await stack.start(['agent', 'critic']);
  const asked = { path: 'docs/notes.md', modes: ['self-refine'] };
  const late = await called(part, 'critique', { ...asked, timeout_seconds: 0.1 });
  expect(failureOf(late)).toMatchObject({ code: 'REVIEW_UNDER_WAY', retryable: true });
  const id = /with the id (\S+) to continue/.exec(failureOf(late).next)?.[1];
  expect(id).toMatch(/^review-/);
  const answer = await called(part, 'critique', { ...asked, id });
  expect(answer.structuredContent.modes).toMatchObject([
    { mode: 'self-refine', status: 'complete', engine: 'model' },
  ]);
  expect(await server.requests()).toHaveLength(1);
}, 60_000);
