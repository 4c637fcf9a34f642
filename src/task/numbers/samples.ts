import { signalsInOrder, type SignalNumbers } from './attention-numbers.js';
import type { TaskNumbersAnswer } from '../requests/messages.js';
import type { TaskNumbers, TaskRates } from './numbers.js';

/** As `Sample` of observe: this part knows no monitor. */
interface TaskSample {
  name: string;
  help: string;
  kind: 'counter' | 'gauge';
  label: string;
  values: Readonly<Record<string, number>>;
}

/** The figures of all tasks, for a monitor. Counters are sums since the store was made. */
export function samplesOf(answer: TaskNumbersAnswer): TaskSample[] {
  const numbers = JSON.parse(answer.numbers) as TaskNumbers;
  const rates = JSON.parse(answer.rates) as TaskRates;
  const counter = (name: string, help: string, label: string, values: Record<string, number>) =>
    ({ name: `sigma_tasks_${name}_total`, help, kind: 'counter', label, values }) as const;
  const gauge = (name: string, help: string, label: string, values: Record<string, number>) =>
    ({ name: `sigma_tasks_${name}`, help, kind: 'gauge', label, values }) as const;
  const asked = (figure: (its: SignalNumbers) => number): Record<string, number> =>
    Object.fromEntries(
      signalsInOrder(numbers.attention).map(([signal, its]) => [signal, figure(its)]),
    );
  const one = (value: number): Record<string, number> => ({ '': value });
  return [
    gauge('now', 'Tasks by state.', 'state', answer.states),
    gauge('waiting', 'Tasks that wait for a worker.', '', one(answer.waiting)),
    counter('finished', 'Finished tasks by how they ended.', 'outcome', numbers.outcomes),
    counter('responses', 'Responses that were reviewed.', '', one(numbers.responses)),
    counter(
      'responses_groundless',
      'Responses that needed evidence and had none.',
      '',
      one(numbers.responses_groundless),
    ),
    counter(
      'reviewed',
      'Responses by confidence, as the manager computes it.',
      'confidence',
      numbers.reviewed,
    ),
    counter('refused', 'Refused responses by confidence.', 'confidence', numbers.refused),
    counter(
      'grounding_ms',
      'Time that workers spent on asking the PGC.',
      '',
      one(numbers.grounding_ms),
    ),
    counter('working_ms', 'Time that workers spent in all.', '', one(numbers.working_ms)),
    counter(
      'context_bytes',
      'Bytes of context that were given to runners.',
      '',
      one(numbers.context_bytes),
    ),
    counter('tokens', 'Tokens of language models.', '', one(numbers.tokens)),
    counter(
      'overlay_cited',
      'Tasks with verified citations of an overlay.',
      'overlay',
      numbers.overlays_cited,
    ),
    counter(
      'gates',
      'Gates by the signals that they name.',
      'signal',
      asked((its) => its.asked),
    ),
    counter(
      'gates_approved',
      'Gates that were approved or dismissed.',
      'signal',
      asked((its) => its.approve + its.dismiss),
    ),
    counter(
      'gates_judged_ms',
      'Time that people took to judge.',
      'signal',
      asked((its) => its.judged_ms),
    ),
    counter(
      'signals_missed',
      'Risks that passed unseen, as reported by people.',
      'signal',
      asked((its) => its.missed),
    ),
    gauge(
      'accepted_without_revision',
      'Of the completed ones, at the first attempt.',
      '',
      one(rates.accepted_without_revision),
    ),
    gauge(
      'accepted_without_manual_review',
      'Of the completed ones, without a person.',
      '',
      one(rates.accepted_without_manual_review),
    ),
    gauge(
      'responses_without_grounding',
      'Of those that needed evidence.',
      '',
      one(rates.responses_without_grounding),
    ),
    gauge('adoption', 'Of all tasks, those with grounding.', '', one(rates.adoption)),
    gauge(
      'grounding_overhead',
      'Of the working time, asking the PGC.',
      '',
      one(rates.grounding_overhead),
    ),
  ];
}
