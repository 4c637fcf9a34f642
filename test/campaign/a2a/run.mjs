// A2A as other programs speak it: first by the official client, then by the public test kit, each scenario by its name.
//
//   npm run conformance:a2a -- [--tck DIR] [--python FILE]
//
// DIR: a clone of https://github.com/a2aproject/a2a-tck, branch 1.0-dev; FILE: a Python with pytest, pytest-asyncio, httpx, grpcio,
// protobuf, googleapis-common-protos and jsonschema. Exits with 1 when a claim does not hold, or a scenario fails that is not named
// in `apart`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { AgentCard, Role, TaskState, verifyAgentCardSignature } from '@a2a-js/sdk';
import {
  ClientFactory,
  JsonRpcTransportFactory,
  DefaultAgentCardResolver,
} from '@a2a-js/sdk/client';
import { temporaryFolder } from '../../bench/kernel/process.mjs';
import { claim } from '../claims.mjs';
import { told } from '../report.mjs';
import { openProxy, rigAt } from './rig.mjs';

/** Of a report of JUnit. */
const caseForm = /<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs;
const outcomeForm = /<(skipped|failure|error)[^>]*? message="([^"]*)"/;
const whyCharsMax = 160;
/** Scenarios that ask for what no agent of the bus does, and why. */
const apart = {
  test_task_has_file_artifact: 'a result of ours is text and data; files are named in its data',
  test_task_has_file_url_artifact: 'a result of ours is text and data; files are named in its data',
  test_task_has_data_artifact:
    'our data says what the manager found out, not what the kit dictates',
  test_returns_message_with_text_part: 'a message to the manager is always a task',
  test_no_snake_case_keys: 'the data of a part has the names that our tools give it',
  'CORE-SEND-003': 'the kit states no expected error, and takes the right one for a failure',
};

const { values } = parseArgs({
  options: { tck: { type: 'string' }, python: { type: 'string', default: 'python3' } },
});
const home = temporaryFolder('sigma-a2a');
const claims = [];
const claimed = (name, holds, detail = '') => claims.push(claim(name, holds, detail));
/** Scenarios of the kit by how they ended. */
const kit = {};
const rig = await rigAt(home);
try {
  await byClient(rig);
  if (values.tck !== undefined) await byKit(values.tck);
} finally {
  await rig.stop();
}
process.exitCode = told('a2a', { json: false, figures: kit, claims });

async function byClient({ origin, token }) {
  const shown = (secret) => (url, init) =>
    fetch(url, { ...init, headers: { ...init?.headers, authorization: `Bearer ${secret}` } });
  const clientOf = (secret, agent) => {
    const fetchImpl = shown(secret);
    return new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }).createFromUrl(origin, `/agents/${agent}/.well-known/agent-card.json`);
  };
  const read = async (at) => (await shown(token)(origin + at)).json();
  const { keys } = await (await fetch(`${origin}/.well-known/jwks.json`)).json();
  const verify = verifyAgentCardSignature(async (kid) => keys.find((each) => each.kid === kid));
  const card = AgentCard.fromJSON(await read('/agents/hand'));
  claimed('card: signed, by the published key', (await verify(card)) === undefined, card.name);
  const { agents, total } = await read('/agents?role=executor');
  claimed('registry: filtered by role', total === 1 && agents[0].name === 'hand', `${total} card`);
  const client = await clientOf(token, 'manager');
  const sent = await client.sendMessage(saying('tck-complete-task', 'do it'));
  claimed('send: a completed task', sent.status.state === TaskState.TASK_STATE_COMPLETED, sent.id);
  const kinds = [];
  for await (const { payload } of client.sendMessageStream(saying('tck-stream', 'do it')))
    kinds.push(payload.$case);
  claimed(
    'stream: task, states, result, end',
    kinds[0] === 'task' && kinds.includes('artifactUpdate') && kinds.at(-1) === 'statusUpdate',
    kinds.join(' '),
  );
  const asking = await client.sendMessage(saying('tck-input-required', 'do it'));
  claimed('input required', asking.status.state === TaskState.TASK_STATE_INPUT_REQUIRED);
  const ended = await client.cancelTask({ tenant: '', id: asking.id, metadata: undefined });
  claimed('cancel', ended.status.state === TaskState.TASK_STATE_CANCELED);
  const refused = await clientOf(token.slice(1), 'manager').catch((error) => error);
  claimed('wrong token: no card', /401/.test(refused.message), refused.message);
  const answer = await shown(token.slice(1))(`${origin}/agents/manager`, { method: 'POST' });
  claimed('wrong token: no call', answer.status === 401, (await answer.json()).error?.code);
}

function saying(prefix, words) {
  const messageId = `${prefix}-${Math.random().toString(36).slice(2)}`;
  const none = { metadata: undefined, filename: '', mediaType: '' };
  return {
    ...{ tenant: '', metadata: undefined, configuration: undefined },
    message: {
      ...{ messageId, contextId: '', taskId: '', role: Role.ROLE_USER },
      parts: [{ content: { $case: 'text', value: `[${messageId}] ${words}` }, ...none }],
      ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
    },
  };
}

/** Those of other bindings are left out: our cards name JSON-RPC alone. */
async function byKit(folder) {
  const proxy = await openProxy(rig);
  const report = path.join(home, 'kit.xml');
  const args = ['-m', 'pytest', 'tests/compatibility', '-q', '--tb=line', '-p', 'no:cacheprovider'];
  args.push(`--sut-host=${proxy.address}`, '--transport=jsonrpc', `--junitxml=${report}`);
  const run = spawn(values.python, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  await once(run, 'exit');
  proxy.close();
  for (const [, className, name, inside = ''] of readFileSync(report, 'utf8').matchAll(caseForm)) {
    const [, what = 'passed', why = ''] = outcomeForm.exec(inside) ?? [];
    if (/grpc|http_json|GRPC|HTTP/.test(`${className} ${name}`)) continue;
    const outcome = inside.includes('pytest.xfail') ? 'expected failure' : what;
    const full = `${className.split('.').at(-1)}.${name}`;
    const [, reason] = Object.entries(apart).find(([each]) => full.includes(each)) ?? [];
    const isBad = ['failure', 'error'].includes(what) || outcome === 'expected failure';
    const told = what === 'passed' ? '' : ` (${reason ?? why.slice(0, whyCharsMax)})`;
    const heading = isBad && reason !== undefined ? 'apart' : outcome;
    kit[heading] = (kit[heading] ?? 0) + 1;
    claimed(`${heading}: ${full}${told}`, !isBad || reason !== undefined, why);
  }
}
