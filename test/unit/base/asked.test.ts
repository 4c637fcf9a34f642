import { expect, test } from 'vitest';
import { isOnlyAsked } from '../../../src/base/asked.js';

/** What an index can do without a model: tell. */

test.each([
  'Who calls nic_log?',
  'List the callers of encodeFrame',
  'List the callers of encodeFrame and decodeFrame.',
  'Explain how a frame is checked, and list the codes.',
  'Callers of kfree',
  'The ring is set up in nic_open. Why can that sleep?',
  '- Where is the ring allocated?\n- What frees it?',
  'Wo wird der Ring angelegt?',
  'Could you list the callers of kfree?',
  'When the ring is full, who frees the oldest frame?',
  'What would you expect from nic_open?',
  'List every lock and what it is for.',
  'Analyse how nic_open sleeps',
  'encodeFrame call chain',
  'nic_open allocation',
  'notify.Stage',
])('is a question: %j', (text) => {
  expect(isOnlyAsked(text)).toBe(true);
});

test.each([
  'Implement JWT validation',
  'Research approach A',
  'Analyze the requirements above.\nDecide on best approach and document it in DECISION.md.',
  'Find the bug and fix it.',
  'Where is the ring allocated? Move it to nic_setup.',
  'The ring is too small.',
  'Do what it says.',
  'Rename the variable lp_orig in prepare_env to path.',
  'Add a docstring to nic_open.',
  'Check the result of fclose in nic_open: data may be lost.',
  'nic_open leaks; fix the leak',
  'Could you fix the bug in parser.c?',
  'If it leaks, can you free the ring?',
  'When the build fails, restart the service.',
  'Where is the ring allocated? If it leaks, move it to nic_setup.',
  'Answer "who calls x?" in a file.',
  '',
])('is more than a question: %j', (text) => {
  expect(isOnlyAsked(text)).toBe(false);
});
