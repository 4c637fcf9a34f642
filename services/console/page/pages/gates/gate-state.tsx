import type { JSX } from 'preact';
import type { Gate } from '../../../../../src/attention/shapes.js';
import { Badge } from '../../parts/badge.js';

export function GateState({ gate }: { gate: Gate }): JSX.Element {
  const { state, judgement, judged_by } = gate;
  if (state === 'open') return <Badge tone="warn">waits</Badge>;
  if (judgement === '') return <Badge>{state}</Badge>;
  const isGood = judgement === 'approve' || judgement === 'dismiss';
  return (
    <>
      <Badge tone={isGood ? 'good' : 'bad'}>{judgement}</Badge>
      <div class="dim small">by {judged_by}</div>
    </>
  );
}
