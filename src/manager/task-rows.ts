import type { Client } from '../client/client.js';
import type { TaskBook } from '../task/book/book.js';
import { taskMessages } from '../task/requests/messages.js';

const rowsMax = 500;

/** Lists of tasks and queues, from memory: nothing of them is secret. */
export function serveRows(client: Client, { index }: Pick<TaskBook, 'index'>): void {
  const { rows, queues } = taskMessages;
  client.serve({
    [rows.type]: ({ body }) => {
      const query = rows.request.decode(body);
      const limit = Math.min(rowsMax, query.limit > 0 ? query.limit : rowsMax);
      return rows.answer.encode(index.rows({ ...query, limit }));
    },
    [queues.type]: () => queues.answer.encode({ queues: index.queues() }),
  });
}
