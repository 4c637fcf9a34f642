import { systemClock } from '../src/base/clock.js';
import { newId } from '../src/base/ids.js';
import type { Config } from '../src/config/config.js';
import { Prose } from '../src/lattice/prose/prose.js';
import { QuestionModel } from '../src/lattice/prose/model-use.js';
import type { Chat } from '../src/model/chat.js';

/** The language model that answers questions in this process; without one configured, none. */
export function proseOf({ model }: Config): Prose {
  if (model === undefined) return new Prose();
  let chat: Promise<Chat> | undefined;
  // Loaded when it is needed: it takes longer to load than most answers take.
  const open = async (): Promise<Chat> =>
    new (await import('../src/model/chat.js')).Chat(model, { env: process.env });
  return new Prose(
    new QuestionModel({
      name: model.model,
      chat: () => (chat ??= open()),
      clock: systemClock,
      newMark: () => newId('data'),
    }),
  );
}
