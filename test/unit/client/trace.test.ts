import { afterEach, beforeEach, expect, test } from 'vitest';
import { inTrace, traceOf } from '../../../src/base/trace-context.js';
import { recordOf, testBus, type TestBus } from '../../support/bus.js';
import { eventually } from '../../support/eventually.js';
import { zeromqHarness } from '../../support/networks.js';

const one = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const other = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';

let bus: TestBus;
beforeEach(async () => {
  bus = testBus(zeromqHarness());
  await bus.start();
});
afterEach(() => bus.close());

test('a trace goes along with requests and messages, also to those that are asked in turn, and no further', async () => {
  const [asker, middle, last] = await Promise.all(
    ['asker', 'middle', 'last'].map((agent) => bus.client(agent)),
  );
  const ask = (from: typeof asker, to: string): Promise<string> =>
    from!.request(`agent:${to}`, 'where', Buffer.from('')).then(({ body }) => body.toString());
  last!.serve({ where: () => Buffer.from(traceOf()) });
  middle!.serve({ where: async () => Buffer.from(`${traceOf()} ${await ask(middle, 'last')}`) });
  const got: string[] = [];
  await last!.register(recordOf('last'));
  await last!.receive(() => void got.push(traceOf()));

  const asked = [one, '', other, 'no trace'].map((trace) =>
    inTrace(trace, async () => {
      await asker!.post('agent:last', 'note', Buffer.from(trace));
      return ask(asker, 'middle');
    }),
  );
  expect(await Promise.all(asked)).toEqual([`${one} ${one}`, ' ', `${other} ${other}`, ' ']);
  await eventually(() => expect([...got].sort()).toEqual(['', '', other, one].sort()));
  expect(traceOf()).toBe('');
});
