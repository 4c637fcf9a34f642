import { filled } from '../model/texts.js';
import { signals, type Finding } from './shapes.js';

/** Instructions for an agent that does not know the attention protocol ("Gate prompt injection"). */

const named = signals.filter((each) => each !== 'Emergent');

/** When to stop, and in which words to say so; they are what `gateIn` reads. */
export function gateInstructions(): string {
  return filled('gate-instructions', { signals: named.join('|') });
}

/** Of an earlier attempt that stopped: exactly this, and only now. The words are the agent's own, and are quoted. */
export function approvedWords(findings: readonly Finding[]): string {
  const first = findings[0];
  const evidence = first?.evidence ?? '';
  const action = first?.action_description ?? '';
  const which = findings.map(({ signal }) => signal).join(', ');
  return [
    `You stopped here before (${which}). A person was asked, and approved exactly this action, once, in this run:`,
    JSON.stringify(action === '' ? evidence : action),
    ...(action === '' ? [] : [`as what you said of it: ${JSON.stringify(evidence)}`]),
    'Do it without asking again. Nothing else is approved: for every other risk, stop as before.',
  ].join('\n');
}
