import type { Client } from '../client/client.js';
import { Later } from '../client/inbox.js';
import { tellingSender } from '../client/malformed.js';
import type { DelegatedTask } from '../delegation/task/shapes.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { taskMessages, taskService, type TaskView } from '../task/requests/messages.js';
import { encodeFailure } from '../wire/messages.js';

const againMs = 1_000;

/**
 * Tasks that are delegated by a durable message, in the name of its sender: that agent gets the answer and, later,
 * the result, wherever it is by then. Call it once the service is offered; dispose of what it returns.
 */
export function receiveTasks(
  client: Client,
  begin: (task: DelegatedTask, parent: string) => Promise<TaskView>,
): Promise<AsyncDisposable> {
  const { type, request, answer } = taskMessages.delegate;
  return client.receive(
    tellingSender(client, async (message) => {
      try {
        if (message.type !== type)
          throw new BusError('UNKNOWN_TYPE', { agent: 'manager', type: message.type });
        const view = await begin(request.decode(message.body), message.from);
        if (message.replyTo !== '') await client.reply(message, type, answer.encode(view));
      } catch (error) {
        const refusal = asBusError(error);
        if (refusal.retryable) throw new Later(againMs, refusal.code);
        if (message.replyTo === '') throw refusal;
        await client.reply(message, 'error', encodeFailure(refusal));
      }
    }),
    { mailbox: `service:${taskService}` },
  );
}
