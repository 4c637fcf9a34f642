import { filled } from './texts.js';

/**
 * Data that is no instruction, with the words that say so. `mark`: random, of this prompt alone: no data
 * can end the fence.
 */
export function fenced(mark: string, data: string): string {
  // Not removed without a trace: what stands around a mark could be one when it is gone.
  return filled('fence', { mark, data: data.replaceAll(mark, '…') });
}

/** The same for the result of a tool; `what` describes it in our own words. */
export function fencedData(mark: string, what: string, data: string): string {
  return filled('data-fence', { mark, what, data: data.replaceAll(mark, '…') });
}
