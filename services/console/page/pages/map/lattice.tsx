import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { linkTo } from '../../address.js';
import type { Answer } from '../../../../../src/pgc/shapes.js';
import { Empty, Loadable } from '../../parts/states.js';
import { go, here } from '../../route.js';
import { useCall } from '../../use-call.js';
import { acrossShards, Way } from '../ask/way.js';
import { Graph } from './graph.js';
import { coloursMax, matching, modelOf, type Model, type Shown } from './lattice-model.js';
import { hopsMax, PathFinder } from './path-finder.js';
import { ShardPanel } from './shard-panel.js';
import { LinkTable, ShardTable } from './tables.js';

/** Shards and what depends on what, as a drawing or as tables. */
export function Lattice({ isTable }: { isTable: boolean }): JSX.Element {
  const topology = useCall('topology', {});
  const agents = useCall('list_agents', { role: 'pgc' }, ['agents']);
  // What changes every few seconds is no reason to draw anew: presence, but not load.
  const known = JSON.stringify(
    (agents.value?.agents ?? []).map(({ id, alias, scope, state }) => ({
      id,
      alias,
      scope,
      state,
    })),
  );
  const model = useMemo(
    () =>
      topology.value === undefined || (agents.value === undefined && agents.fault === undefined)
        ? undefined
        : modelOf(topology.value, JSON.parse(known) as Parameters<typeof modelOf>[1]),
    [topology.value, known, agents.value === undefined && agents.fault === undefined],
  );
  return (
    <Loadable
      loaded={{ ...topology, value: model, isLoading: topology.isLoading || agents.isLoading }}
      what="Comparing the shards"
    >
      {(its) =>
        its.shards.length === 0 ? (
          <Empty title="No shard is indexed yet">
            <p>
              <code>sigma up FOLDER</code> indexes a tree and offers its shards.
            </p>
          </Empty>
        ) : isTable ? (
          <Tables model={its} />
        ) : (
          <Drawn model={its} />
        )
      }
    </Loadable>
  );
}

function Tables({ model }: { model: Model }): JSX.Element {
  return (
    <>
      <h2>Shards</h2>
      <ShardTable model={model} />
      <h2>Links</h2>
      <LinkTable model={model} />
      {model.isTruncated && <p class="dim">There are more links; these are the strongest.</p>}
    </>
  );
}

function Drawn({ model }: { model: Model }): JSX.Element {
  const { query } = here.value;
  const [words, setWords] = useState('');
  const [least, setLeast] = useState(1);
  const [step, setStep] = useState<number | undefined>();
  const shard = query.get('shard') ?? undefined;
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? ''];
  const question = query.get('q') ?? '';
  const path = useCall(
    'lattice_path',
    from === '' || to === '' ? undefined : { from, to, max_hops: hopsMax },
  );
  const way = useCall('query_lattice', question === '' ? undefined : { question, ...acrossShards });
  const selected = model.shards.find(({ agent }) => agent === shard);
  const found = useMemo(() => matching(model, words), [model, words]);
  const shown = useMemo((): Shown | undefined => {
    if (words !== '') return { shards: found.map(({ agent }) => agent) };
    if (way.value !== undefined) return shownWay(way.value, step);
    if (path.value !== undefined) return shownPath(path.value.path);
    return selected && { shards: [selected.agent] };
  }, [words, found, way.value, step, path.value, selected]);
  return (
    <div class="map-body">
      <div class="map-main">
        <div class="row">
          <input
            type="search"
            data-search
            aria-label="Find a shard by its name or its paths"
            placeholder="Find a shard"
            value={words}
            onInput={({ currentTarget }) => setWords(currentTarget.value)}
            onKeyDown={({ key }) => {
              const [first] = found;
              if (key === 'Enter' && first !== undefined) {
                setWords('');
                go(linkTo('map', [], { shard: first.agent }));
              }
            }}
          />
          {words !== '' && <span class="dim">{found.length} found</span>}
          <label class="dim">
            links of at least
            <input
              type="number"
              class="short"
              min={1}
              value={least}
              onChange={({ currentTarget }) =>
                setLeast(Math.max(1, Number(currentTarget.value) || 1))
              }
            />
            references
          </label>
        </div>
        <Graph
          model={model}
          least={least}
          shown={shown}
          onShard={(agent) => go(linkTo('map', [], { shard: agent }), { replace: true })}
        />
        <Groups model={model} />
      </div>
      <aside class="map-side">
        {question !== '' && (
          <Loadable loaded={way} what="Asking from shard to shard">
            {(answer) => (
              <Way
                answer={answer}
                current={0}
                onStep={setStep}
                isOnMap
                onEvidence={toAnswer(question)}
              />
            )}
          </Loadable>
        )}
        {selected !== undefined && <ShardPanel model={model} shard={selected} />}
        {selected === undefined && shard !== undefined && (
          <p class="note">No shard is named {shard}.</p>
        )}
        <PathFinder model={model} from={from} to={to} loaded={path} />
      </aside>
    </div>
  );
}

function toAnswer(question: string): () => void {
  return () => go(linkTo('ask', [], { q: question, deep: '1' }));
}

function shownPath(path: readonly string[]): Shown {
  return { shards: path, steps: path.slice(1).map((to, at) => [path[at] ?? '', to]) };
}

/** The shards that were visited until then, and the calls that led to them: what was found by search has none. */
function shownWay({ hops }: Answer, step: number | undefined): Shown {
  const visited = hops.slice(0, step === undefined ? hops.length : step + 1);
  return {
    shards: visited.map(({ agent }) => agent),
    steps: visited.flatMap(({ agent, via }) =>
      via === null ? [] : [[via.from_agent, agent] as const],
    ),
  };
}

function Groups({ model }: { model: Model }): JSX.Element {
  return (
    <ul class="groups" aria-label="Colours">
      {model.groups.slice(0, coloursMax).map((group, at) => (
        <li key={group}>
          <i class={`group group-${at}`} aria-hidden="true" />
          {at === coloursMax - 1 && model.groups.length > coloursMax ? 'others' : group}
        </li>
      ))}
      <li class="dim">size: lines · width: references</li>
    </ul>
  );
}
