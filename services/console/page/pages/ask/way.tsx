import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Answer } from '../../../../../src/pgc/shapes.js';
import { symbolLink } from '../../parts/place.js';
import { linkTo } from '../../address.js';
import { EvidenceLink } from './flow.js';

/** A question that crosses many shards, and how long it may take. */
export const acrossShards = { max_hops: 8, timeout_seconds: 60 };

/** Of each hop while the way is played. */
const stepMs = 1_600;

/** The shards that a question visited, one after the other, and the call that led to each. */
export function Way({
  answer: { hops, question, safety },
  current,
  isOnMap = false,
  onStep,
  onEvidence,
}: {
  answer: Answer;
  current: number;
  isOnMap?: boolean;
  /** What is looked at; undefined: all of it. */
  onStep?: (at: number | undefined) => void;
  onEvidence: (id: number) => void;
}): JSX.Element {
  const [at, setAt] = useState<number | undefined>();
  const [isPlaying, setPlaying] = useState(false);
  useEffect(() => onStep?.(at), [at, onStep]);
  const last = hops.length - 1;
  useEffect(() => {
    if (!isPlaying) return undefined;
    const timer = window.setTimeout(
      () => {
        if ((at ?? -1) >= last) setPlaying(false);
        else setAt((at ?? -1) + 1);
      },
      at === undefined ? 0 : stepMs,
    );
    return () => window.clearTimeout(timer);
  }, [isPlaying, at, last]);
  const shown = at === undefined ? last : at;
  return (
    <section class="panel" aria-label="Way through the shards">
      <div class="row">
        <h2>Way</h2>
        {safety !== null && (
          <span class="dim">
            {safety.actual_hops} of at most {safety.max_hops} agents
          </span>
        )}
        <span class="tools-end">
          <button
            type="button"
            class="quiet"
            onClick={() => {
              setAt(undefined);
              setPlaying(!isPlaying);
            }}
          >
            {isPlaying ? 'Stop' : 'Replay'}
          </button>
          {isOnMap ? (
            <a class="button" href={linkTo('ask', [], { q: question, deep: '1' })}>
              The answer
            </a>
          ) : (
            <a class="button" href={linkTo('map', [], { q: question })}>
              On the map
            </a>
          )}
        </span>
      </div>
      <ol class="way">
        {hops.map(({ agent, via, evidence, elapsed_ms: ms }, index) => (
          <li
            key={`${index} ${agent}`}
            class={`${index > shown ? 'coming' : ''} ${index === at ? 'current' : ''}`}
            aria-current={index === at ? 'step' : undefined}
          >
            <button type="button" class="quiet" onClick={() => setAt(index)}>
              {agent}
            </button>
            <span class="dim">{Math.round(ms)} ms</span>
            <div class="dim">
              {via === null ? (
                index === 0 ? (
                  'entered by search'
                ) : (
                  'found by search'
                )
              ) : (
                <>
                  by{' '}
                  <a href={symbolLink(via.to === '' ? via.symbol : via.to)}>
                    <code>{via.symbol}</code>
                  </a>
                  , called at <code>{via.from}</code>
                </>
              )}
              {evidence.map((id) => (
                <span key={id} class={id === current ? 'current' : ''}>
                  <EvidenceLink id={id} onEvidence={onEvidence} />
                </span>
              ))}
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
