import { isPossible, scopedName } from './product.mjs';

/** Each true chain: whether a way was found from its start to its end, and which links of it no compiler knows. */
export async function measureChains({ truth, product, chains }) {
  const rows = [];
  for (const { places, crosses } of chains) {
    const way = await traced({ truth, product, from: places[0], to: places.at(-1) });
    rows.push({ ...way, crosses, calls: places.length - 1, true: places });
  }
  return rows;
}

/** Each pair without a chain: whether one was found all the same. */
export async function measureApart({ truth, product, pairs }) {
  const rows = [];
  for (const { from, to } of pairs) rows.push(await traced({ truth, product, from, to }));
  return rows;
}

async function traced({ truth, product, ...ends }) {
  const [from, to] = [ends.from, ends.to].map((place) => scopedName(truth, place));
  const { answer, ms } = await product.trace(from, to);
  const links = linksOf(answer.path).map((link) => ({ ...link, isTrue: leads(truth, link) }));
  // A chain with a call of which only the name fits is no claim, and is marked.
  const isDoubtful = links.some(isPossible);
  return {
    ...{ from, to, ms, isFound: answer.found && !isDoubtful, isDoubtful, links: links.length },
    invented: links.filter((link) => link.isTrue === false && !isPossible(link)),
    unjudged: links.filter(({ isTrue }) => isTrue === undefined).length,
  };
}

function linksOf(path) {
  return path.slice(1).map(({ call_site: site, certainty, file_path, line }, at) => ({
    ...{ site, certainty, to: `${file_path}:${line}` },
    from: `${path[at].file_path}:${path[at].line}`,
  }));
}

function leads(truth, { site, from, to }) {
  if (!truth.definitions.has(to)) return undefined;
  // From a method of an interface to what implements it there is no call.
  if (site === '') return truth.implements(to, from);
  const colon = site.lastIndexOf(':');
  return truth.leads(site.slice(0, colon), Number(site.slice(colon + 1)), to);
}
