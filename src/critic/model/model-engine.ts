import { asBusError, BusError } from '../../errors/bus-error.js';
import { estimatedTokens, type Budget } from '../../model/budget.js';
import type { Chat } from '../../model/chat.js';
import type { Message } from '../../model/conversation.js';
import { textOf } from '../../model/texts.js';
import { acceptedAnswer } from '../cycle/accepted-answer.js';
import { bounded } from '../finding.js';
import { answerJson, answerShape, complaintsOf, type ModelAnswer } from './model-answer.js';
import { promptOf, textsOf } from './model-prompt.js';
import { toAskModel, type Examined, type Mode, type ModeInput } from '../mode.js';
import type { ModeReport } from '../shapes.js';

export interface ModelUse {
  /** Of the whole review; it is charged for failed requests, too. */
  budget: Budget;
  /** Random, for this prompt alone: the author of an artifact cannot know it. */
  newMark: () => string;
}

/** What a mode found with a model beside its rules, and what of its report only the engine knows. */
export type ExaminedByModel = Examined &
  Pick<ModeReport, 'engine' | 'status' | 'reason' | 'texts' | 'tokens'>;

/**
 * Any mode, by its rules first and then by a model that is told what they found. What a model says counts where it quotes
 * what is there; it takes nothing back. When it fails the report is that of the rules: `partial`, with the code of why.
 * Throws what the signal says (MODE_TIMED_OUT, CANCELLED); what the rules found has been told to `partial` by then.
 */
export async function examineByModel(
  mode: Mode,
  input: ModeInput,
  chat: Pick<Chat, 'converse'>,
  { budget, newMark }: ModelUse,
): Promise<ExaminedByModel> {
  const examined = bounded(await mode.examine(input));
  input.partial(examined);
  const before = budget.spent;
  const texts = textsOf(mode).map((name) => textOf(name).id);
  try {
    const messages = promptOf(mode, input, examined, newMark());
    assertAffordable(messages, budget);
    const { value } = await chat.converse(messages, {
      ...{ signal: input.signal, budget },
      schema: {
        name: 'review',
        shape: answerShape((answer) => complaintsOf(mode, input, answer)),
        json: answerJson(),
      },
    });
    const accepted = await acceptedAnswer(mode, input, examined, value as ModelAnswer);
    const tokens = budget.spent - before;
    return { ...accepted, engine: 'model', status: 'complete', reason: '', texts, tokens };
  } catch (error) {
    if (input.signal.aborted) throw endedBy(input.signal);
    const { code, message } = asBusError(error);
    const tokens = budget.spent - before;
    const told = tokens > 0 ? texts : [];
    const unable = [`${toAskModel}${message}`, ...examined.unable];
    const its = { ...examined, unable, engine: 'rules', status: 'partial' } as const;
    return { ...its, reason: code, texts: told, tokens };
  }
}

/** Half a question has no answer: what the budget cannot pay for is not asked. Throws MODEL_BUDGET_SPENT. */
function assertAffordable(messages: readonly Message[], budget: Budget): void {
  const tokens = estimatedTokens(messages.reduce((sum, { text }) => sum + text.length, 0));
  if (tokens > budget.left)
    throw new BusError('MODEL_BUDGET_SPENT', { spent: budget.spent, max: budget.tokensMax });
}

function endedBy({ reason }: AbortSignal): BusError {
  return reason instanceof BusError ? reason : new BusError('CANCELLED');
}
