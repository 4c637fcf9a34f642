import type { Client as McpClient } from '@modelcontextprotocol/client';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { userName } from '../../src/base/user-name.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { failureOf, startHttp, stdioClient, type Era, type Person } from '../support/mcp.js';
import { asking, taskIn } from '../support/mcp-tasks.js';
import { sigma } from '../support/sigma.js';
import { Stack } from '../support/stack.js';
import { temporaryFolder } from '../support/temporary.js';

const folder = temporaryFolder();
const home = path.join(folder.path, 'home');
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.open(home, ['manager']);
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  folder.remove();
});

async function gated(mcp: McpClient): Promise<{ task: string; gate: string }> {
  const action = { argv: ['git', 'push', '--force', 'origin', 'main'] };
  const delegated = await called(mcp, 'delegate_task', { task: 'push', action, wait: false });
  const { id: task } = delegated.structuredContent;
  let gate = '';
  await eventually(async () => {
    const { structuredContent } = await called(mcp, 'list_gates', {});
    gate = structuredContent.gates.find((each: any) => each.task === task)?.id ?? '';
    expect(gate).not.toBe('');
  }, 20_000);
  return { task, gate };
}

const called = (mcp: McpClient, name: string, args: object): Promise<any> =>
  mcp.callTool({ name, arguments: args as Record<string, unknown> });

judgesIn('legacy');
judgesIn('modern');

function judgesIn(era: Era): void {
  test(`the person at a client judges what was shown; a model without one judges nothing (${era})`, async () => {
    const shown: string[] = [];
    let answer: ReturnType<Person> = { action: 'decline' };
    const person: Person = (message) => {
      shown.push(message);
      return answer;
    };
    await eventually(async () => {
      const probe = await stdioClient(home, { era });
      const listed = await called(probe, 'list_gates', {});
      await probe.close();
      expect(listed.isError).not.toBe(true);
    }, 30_000);
    const mcp = await stdioClient(home, { era, person, args: ['--as', `model-${era}`] });
    const bare = await stdioClient(home, { era, args: ['--as', `bare-${era}`] });
    const { task, gate } = await gated(mcp);
    // A model names no session: approvals of it would be those of a person.
    const named = { task: 'push', session: 'release', wait: false };
    expect(failureOf(await called(mcp, 'delegate_task', named)).code).toBe('TOOL_INPUT');

    await expect(
      called(bare, 'judge_gate', { id: gate }).then((result) => {
        if (result.isError === true) throw new Error('refused');
        return result;
      }),
    ).rejects.toThrow();
    const declined = await called(mcp, 'judge_gate', { id: gate });
    expect(declined.structuredContent).toMatchObject({ state: 'open', judgement: '' });
    expect(shown[0]).toMatch(/git push --force origin main/);

    // Nor does it judge by naming the judgement of which a person's command is made.
    const own = await called(mcp, 'judge_gate', { id: gate, judgement: 'approve' });
    expect(failureOf(own).code).toBe('TOOL_INPUT');

    answer = { action: 'accept', content: { judgement: 'halt', direction: '' } };
    const judged = await called(mcp, 'judge_gate', { id: gate });
    expect(judged.structuredContent).toMatchObject({ state: 'judged', judgement: 'halt' });
    expect(judged.structuredContent.judged_by).toBe(userName());
    const status = await called(mcp, 'task_status', { id: task });
    expect(status.structuredContent.task).toMatchObject({ state: 'halted' });
    // The same word of the same person is answered again; another one comes too late.
    answer = { action: 'accept', content: { judgement: 'approve', direction: '' } };
    const again = await called(mcp, 'judge_gate', { id: gate });
    expect(JSON.stringify(again.content)).toContain('GATE_JUDGED');
    await mcp.close();
    await bare.close();
  }, 90_000);
}

test('a call that can be fetched later stands still at a gate, and goes on as the person says', async () => {
  const http = await startHttp(home, ['--as', 'later']);
  const token = readFileSync(http.tokenFile, 'utf8').trim();
  const ask = asking(fetch, http.url, { token });
  try {
    const begun = async (what: string): Promise<string> => {
      const action = { argv: ['git', 'push', '--force', 'origin', what] };
      const args = {
        name: 'delegate_task',
        arguments: { id: `later-${what}`, task: 'push', action },
      };
      let answer: any;
      await eventually(async () => {
        answer = await ask('tools/call', args);
        expect(answer.isError, JSON.stringify(answer)).not.toBe(true);
      }, 20_000);
      expect(answer.resultType).toBe('task');
      return answer.taskId;
    };
    const judgedTask = await begun('main');
    const standing = await taskIn(ask, judgedTask, 'input_required', 'completed');
    const [[key, form]] = Object.entries<any>(standing.inputRequests) as [[string, any]];
    expect(form.params.message).toMatch(/git push --force origin main/);
    const content = { judgement: 'halt', direction: '' };
    await ask('tasks/update', {
      taskId: judgedTask,
      inputResponses: { [key]: { action: 'accept', content } },
    });
    const { result } = await taskIn(ask, judgedTask, 'completed');
    expect(result.structuredContent).toMatchObject({ id: 'later-main', state: 'halted' });

    // A word that came first, from elsewhere, is as good.
    const elsewhere = await begun('elsewhere');
    await taskIn(ask, elsewhere, 'input_required', 'completed');
    const { gates } = (await sigma(home, ['gate', 'list', '--json'])).json;
    const gate = gates.find((each: any) => each.task === 'later-elsewhere').id;
    expect((await sigma(home, ['gate', 'halt', gate])).code).toBe(0);
    const other = await taskIn(ask, elsewhere, 'completed');
    expect(other.result.content[0].text).toMatch(/later-elsewhere is halted/);

    // To take it back ends the work itself, not the waiting alone.
    const cancelled = await begun('other');
    await taskIn(ask, cancelled, 'input_required', 'completed');
    await ask('tasks/cancel', { taskId: cancelled });
    await taskIn(ask, cancelled, 'cancelled');
    await eventually(async () => {
      const status = await ask('tools/call', {
        name: 'task_status',
        arguments: { id: 'later-other' },
      });
      expect(status.structuredContent.task.state).toBe('cancelled');
    });
  } finally {
    http.process.kill('SIGTERM');
    await http.ended;
  }
}, 90_000);
