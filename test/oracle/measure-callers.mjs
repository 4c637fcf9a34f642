import { isPossible, scopedName } from './product.mjs';
import { isOn } from './truth.mjs';

/** Each symbol, by scoped and by bare name: its true sites, which of them were found, and what was invented. */
export async function measureCallers({ truth, product, symbols }) {
  const rows = [];
  for (const { place, kind, definition } of symbols) {
    const asked = { scoped: scopedName(truth, place), bare: definition.name };
    for (const [how, name] of Object.entries(asked)) {
      const { answer, ms } = await product.callers(name);
      rows.push({ how, asked: name, kind, place, ms, ...judged({ truth, place, answer }) });
    }
  }
  return rows;
}

function judged({ truth, place, answer }) {
  const wanted = truth.callersOf(place);
  const edges = answer.callers.filter((site) => !isPossible(site));
  const possible = [...answer.callers.filter(isPossible), ...(answer.possible ?? [])];
  const isAt = (site) => (each) => each.file_path === site.file && isOn(site, each.line);
  const found = (list, among) => list.filter((site) => among.some(isAt(site)));
  const sets = Object.fromEntries(
    ['static', 'dispatch', 'foreign'].map((via) => [via, onePerLine(wanted[via])]),
  );
  // A site that is certain is not asked for once more through an interface.
  const certain = new Set(sets.static.map(keyOf));
  sets.dispatch = sets.dispatch.filter((site) => !certain.has(keyOf(site)));
  return {
    isKnown: answer.definitions.some((each) => `${each.file_path}:${each.line}` === place),
    isNone: edges.length + possible.length === 0,
    isOpen: truth.isOpen(truth.definitions.get(place).name),
    wanted: { static: sets.static.length, dispatch: sets.dispatch.length },
    found: {
      static: found(sets.static, edges).length,
      dispatch: found(sets.dispatch, edges).length,
      foreign: found(sets.foreign, edges).length,
    },
    possible: {
      sites: possible.length,
      true: found([...sets.static, ...sets.dispatch], possible).length,
    },
    missed: ['static', 'dispatch'].flatMap((via) =>
      sets[via].filter((site) => !edges.some(isAt(site))).map((site) => missedSite(site, via)),
    ),
    wrongHolder: [...sets.static, ...sets.dispatch].filter((site) =>
      edges.some((each) => isAt(site)(each) && !isHeldBy(each, site)),
    ).length,
    forms: sets.static.map((site) => ({ form: formOf(site), isFound: edges.some(isAt(site)) })),
    ...inventedIn({ truth, place, edges, wanted }),
  };
}

/** Outside of functions a call has no holder, and may be shown with the variable that it sets. */
function isHeldBy({ definition }, { holder }) {
  return holder === '' || definition === holder;
}

function inventedIn({ truth, place, edges, wanted }) {
  const { name } = truth.definitions.get(place);
  const invented = [];
  let named = 0;
  let unjudged = 0;
  const lines = new Map(edges.map((each) => [`${each.file_path}:${each.line}`, each]));
  for (const { file_path: file, line } of lines.values()) {
    const leads = truth.leads(file, line, place);
    if (leads === true) continue;
    const isHere = (site) => site.file === file && isOn(site, line);
    if (leads === undefined) unjudged += 1;
    else if (wanted.value.some(isHere)) named += 1;
    else invented.push({ site: `${file}:${line}`, says: saidShortly(truth, name, file, line) });
  }
  return { invented, named, unjudged };
}

/** What the compiler says of an invented site. */
function saidShortly(truth, name, file, line) {
  const said = truth.saidOf(name, file, line);
  if (said.length === 0) return 'no use of the name';
  return said
    .map((each) => [each.kind, each.form, each.target].filter(Boolean).join(' '))
    .join('; ');
}

function missedSite(site, via) {
  return { site: keyOf(site), via, form: formOf(site), closure: site.closure === true };
}

export function formOf({ form, promoted }) {
  return promoted ? `${form}, promoted` : form;
}

function onePerLine(sites) {
  return [...new Map(sites.map((site) => [keyOf(site), site])).values()];
}

function keyOf({ file, line }) {
  return `${file}:${line}`;
}
