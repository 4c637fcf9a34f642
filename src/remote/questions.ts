import type { Client } from '../client/client.js';
import type { AskingOptions } from '../lattice/questions.js';
import {
  askedBy,
  latticeMessages,
  latticeService,
  queryProgress,
  shardMessages,
  type AskedBy,
} from '../pgc/serve/messages.js';
import type { Answer, AskRequest } from '../pgc/shapes.js';
import { insane, isSaneAnswer } from './foreign-answer.js';
import { ask } from './request.js';

/** One agent's own answer. Throws UNKNOWN_AGENT, AGENT_OFFLINE, AMBIGUOUS_ALIAS, AGENT_FAILED. */
export async function askAgent(
  client: Client,
  agent: string,
  request: AskRequest,
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<Answer> {
  const options = { deadlineMs, isIdempotent: true, ...(signal === undefined ? {} : { signal }) };
  const answer = await ask(client, `agent:${agent}`, shardMessages.ask, request, options);
  if (!isSaneAnswer(answer)) throw insane(agent);
  return answer;
}

/** The manager's answers over the bus, analyses included. */
export function remoteQuestions(client: Client): AskedBy<typeof latticeMessages, AskingOptions> {
  return askedBy(latticeMessages, (message, request, { onProgress, ...options }: AskingOptions) =>
    ask(client, `service:${latticeService}`, message, request, {
      ...options,
      isIdempotent: true,
      onPartial: (body) => onProgress?.(queryProgress.decode(body)),
    }),
  );
}
