import { outcome } from '../../delegation/worker/runner-outcome.js';
import { newId } from '../../base/ids.js';
import { nothingGathered } from '../../delegation/grounding/gathered.js';
import { promptOf, questionIn, rulesFor } from '../../delegation/worker/task-prompt.js';
import { BusError } from '../../errors/bus-error.js';
import type { Chat } from '../../model/chat.js';
import { citedOnly } from '../../model/cited.js';
import type { Runner } from './runner.js';

/** A language model: it changes nothing. What it says without a source, where it was given any, is dropped and counted. */
export function modelRunner(chat: Chat): Runner {
  return async (turn) => {
    const { task, gathered, signal, progress } = turn;
    const prompt = promptOf(task, { ...turn, mark: newId('data') });
    progress('the model was asked');
    const { text, tokens } = await chat.ask(rulesFor(prompt.sources.length), prompt.text, signal);
    const { contextBytes } = prompt;
    const question = questionIn(text);
    if (question !== '') return outcome('asked', { question, tokens, contextBytes });
    const { text: kept, cited, dropped } = citedOnly(text, prompt.sources);
    // Nothing but invented or missing sources: no answer, even if other evidence was gathered.
    if (dropped > 0 && !/\w/.test(kept)) {
      const { code, message, retryable } = new BusError('MODEL_UNGROUNDED', { dropped });
      const errors = [{ code, text: message, retryable }];
      return outcome('failed', { reason: code, errors, tokens, contextBytes });
    }
    const said =
      dropped === 0
        ? []
        : [`${dropped} sentence${dropped === 1 ? '' : 's'} without a valid source dropped.`];
    return outcome('finished', {
      result: kept,
      tokens,
      contextBytes,
      cited,
      isOwnWords: true,
      gathered: gathered === null ? null : { ...nothingGathered, warnings: said },
    });
  };
}
