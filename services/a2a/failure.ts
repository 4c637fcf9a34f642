import {
  A2AError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { asBusError } from '../../src/errors/bus-error.js';

const usageExit = 2;

/** In the classes of the protocol, with our code, whether trying again helps, and what to do next as its metadata. */
export function failureOf(error: unknown): A2AError {
  if (error instanceof A2AError) return error;
  const coded = asBusError(error);
  const { code, retryable, next, message } = coded;
  const told = { message, metadata: { code, retryable: String(retryable), next }, cause: error };
  switch (code) {
    case 'NO_SUCH_TASK':
      return new TaskNotFoundError(told);
    case 'TASK_STATE':
      return new TaskNotCancelableError(told);
    case 'NO_MAILBOX':
      return new UnsupportedOperationError(told);
    default:
      return coded.exit === usageExit ? new RequestMalformedError(told) : new A2AError(told);
  }
}

/** What it yields, and its failure as the protocol has it. */
export async function* toldEach<T>(each: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  try {
    yield* each;
  } catch (error) {
    throw failureOf(error);
  }
}

export function told<T>(its: Promise<T>): Promise<T> {
  return its.catch((error: unknown) => {
    throw failureOf(error);
  });
}
