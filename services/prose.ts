import { systemClock } from '../src/base/clock.js';
import { newId } from '../src/base/ids.js';
import type { Config } from '../src/config/config.js';
import { noProse, type Prose } from '../src/lattice/prose/port.js';
import type { Chat } from '../src/model/chat.js';

/** The language model that answers questions in this process, loaded with the first one; without one configured, none. */
export function proseOf({ model }: Config): Prose {
  if (model === undefined) return noProse;
  let loaded: Promise<Prose> | undefined;
  const prose = (): Promise<Prose> => (loaded ??= open(model));
  return {
    ask: async (...its) => (await prose()).ask(...its),
    query: async (...its) => (await prose()).query(...its),
  };
}

async function open(model: NonNullable<Config['model']>): Promise<Prose> {
  const { ModelProse } = await import('../src/lattice/prose/prose.js');
  const { QuestionModel } = await import('../src/lattice/prose/model-use.js');
  const connect = async (): Promise<Chat> =>
    new (await import('../src/model/chat.js')).Chat(model, { env: process.env });
  let chat: Promise<Chat> | undefined;
  return new ModelProse(
    new QuestionModel({
      name: model.model,
      // Requests that decline it do not load its client.
      chat: () => (chat ??= connect()),
      clock: systemClock,
      newMark: () => newId('data'),
    }),
  );
}
