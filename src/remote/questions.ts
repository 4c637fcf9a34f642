import type { Client } from '../client/client.js';
import type { AskingOptions } from '../lattice/questions.js';
import {
  askedBy,
  asker,
  latticeMessages,
  latticeService,
  queryProgress,
  shardMessages,
  type AskedBy,
  type MessageType,
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

/** The manager's answers over the bus, analyses included. `folder`: of several trees, the one with it answers. */
export function remoteQuestions(
  client: Client,
  folder: string,
): AskedBy<typeof latticeMessages, AskingOptions> {
  const said = asker.encode({ asker_folder: folder });
  return askedBy(latticeMessages, (message, request, { onProgress, ...options }: AskingOptions) =>
    ask(client, `service:${latticeService}`, askedFrom(said, message), request, {
      ...options,
      isIdempotent: true,
      onPartial: (body) => onProgress?.(queryProgress.decode(body)),
    }),
  );
}

/** A message of protobuf may be said in pieces. */
function askedFrom<Q, A>(
  said: Buffer,
  { request, ...message }: MessageType<Q, A>,
): MessageType<Q, A> {
  const encode = (value: Q): Buffer => Buffer.concat([request.encode(value), said]);
  return { ...message, request: { ...request, encode } };
}
