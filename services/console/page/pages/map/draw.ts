import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type Simulation,
  type SimulationNodeDatum,
} from 'd3-force';
import { colour } from '../../theme.js';
import { coloursMax, type Line, type Stress } from './lattice-model.js';
import { paint, type Colours, type Drawn, type Tie } from './paint.js';
import { followPointer } from './pointer.js';
import { discAt, fitted, within, zoomed, type Point, type View } from './view.js';

/** A shard as it is drawn. */
export interface Dot {
  id: string;
  radius: number;
  colour: number;
  isAway: boolean;
}

type Body = Dot & Omit<SimulationNodeDatum, 'x' | 'y'> & Point;

/** Of each frame: a drawing of five hundred shards must not stop what is typed meanwhile. */
const sliceMs = 8;
/** Of a layout that begins where the last one ended. */
const alphaAgain = 0.02;

/** Where the shards of the last drawing stood: the next one does not begin anew. */
let places = new Map<string, Point>();

/** Shards and their links on a canvas, which settle while they are seen, and can be moved. */
export class Drawing implements Disposable {
  readonly #canvas = document.createElement('canvas');
  readonly #bodies: Body[];
  readonly #byId: ReadonlyMap<string, Body>;
  readonly #ties: Tie[];
  readonly #layout: Simulation<Body, undefined>;
  readonly #size: ResizeObserver;
  readonly #over = new AbortController();
  #view: View = { x: 0, y: 0, scale: 1 };
  /** Until it is moved by hand, all of it is shown. */
  #isFitted = true;
  #colours: Colours = coloursNow();
  #stress: Stress | undefined;
  #added: Tie[] = [];
  #frame: number | undefined;

  /** `onTap`: with what was tapped; undefined: nothing. */
  constructor(
    box: HTMLElement,
    { dots, lines }: { dots: readonly Dot[]; lines: readonly Line[] },
    onTap: (id: string | undefined) => void,
  ) {
    this.#bodies = dots.map((dot) => ({ ...dot, ...(places.get(dot.id) ?? { x: NaN, y: NaN }) }));
    this.#byId = new Map(this.#bodies.map((each) => [each.id, each]));
    this.#ties = this.#tiesOf(lines);
    const isKnown = this.#bodies.every(({ x }) => !Number.isNaN(x));
    this.#layout = layoutOf(this.#bodies, this.#ties).alpha(isKnown ? alphaAgain : 1);
    this.#canvas.className = 'lattice-drawing';
    box.append(this.#canvas);
    this.#size = new ResizeObserver(() => this.#draw());
    this.#size.observe(box);
    followPointer<Body>(this.#canvas, this.#over.signal, {
      on: (at) => discAt(this.#bodies, within(this.#view, at)),
      move: (body, to) => this.#moveBody(body, within(this.#view, to)),
      pan: (by) => this.#look({ ...this.#view, x: this.#view.x + by.x, y: this.#view.y + by.y }),
      zoom: (by, at) => this.#look(zoomed(this.#view, by, at)),
      tap: (body) => onTap(body?.id),
    });
    this.#draw();
  }

  /** What stands out, all else steps back; undefined: nothing does. */
  show(stress: Stress | undefined): void {
    this.#stress = stress;
    this.#added = this.#tiesOf(stress?.added ?? []);
    this.#draw();
  }

  zoom(by: number): void {
    const { clientWidth, clientHeight } = this.#canvas;
    this.#look(zoomed(this.#view, by, { x: clientWidth / 2, y: clientHeight / 2 }));
  }

  fit(): void {
    this.#isFitted = true;
    this.#draw();
  }

  /** The colours of the page are others. */
  recolour(): void {
    this.#colours = coloursNow();
    this.#draw();
  }

  [Symbol.dispose](): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#over.abort();
    this.#size.disconnect();
    this.#canvas.remove();
    places = new Map(this.#bodies.map(({ id, x, y }) => [id, { x, y }]));
  }

  #tiesOf(lines: readonly Line[]): Tie[] {
    return lines.flatMap(({ id, from, to, width }) => {
      const [source, target] = [this.#byId.get(from), this.#byId.get(to)];
      return source === undefined || target === undefined ? [] : [{ id, source, target, width }];
    });
  }

  #moveBody(body: Body, { x, y }: Point): void {
    this.#isFitted = false;
    Object.assign(body, { x, y, vx: 0, vy: 0 });
    this.#draw();
  }

  #look(view: View): void {
    this.#isFitted = false;
    this.#view = view;
    this.#draw();
  }

  /** With the next frame; many changes are one. */
  #draw(): void {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#settle();
      const { clientWidth: width, clientHeight: height } = this.#canvas;
      if (this.#isFitted) this.#view = fitted(this.#bodies, { width, height });
      const drawn: Drawn = {
        ...{ discs: this.#bodies, ties: this.#ties, added: this.#added },
        ...{ view: this.#view, stress: this.#stress, colours: this.#colours },
      };
      paint(this.#canvas, drawn);
    });
  }

  #settle(): void {
    const layout = this.#layout;
    const isOver = (): boolean => layout.alpha() <= layout.alphaMin();
    if (isOver()) return;
    const endMs = performance.now() + sliceMs;
    do layout.tick();
    while (performance.now() < endMs && !isOver());
    if (!isOver()) this.#draw();
  }
}

function layoutOf(bodies: Body[], ties: readonly Tie[]): Simulation<Body, undefined> {
  const links = ties.map(({ source, target, width }) => ({
    ...{ source: source.id, target: target.id, width },
  }));
  return forceSimulation(bodies)
    .force(
      'links',
      forceLink<Body, (typeof links)[number]>(links)
        .id(({ id }) => id)
        .distance(110)
        .strength(({ width }) => 0.03 * width),
    )
    .force('apart', forceManyBody().strength(-420).distanceMax(900))
    .force(
      'room',
      forceCollide<Body>(({ radius }) => radius + 14),
    )
    .force('x', forceX().strength(0.05))
    .force('y', forceY().strength(0.08))
    .stop();
}

function coloursNow(): Colours {
  const [text, line, accent, back] = ['text', 'line-strong', 'accent', 'bg'].map(colour);
  const groups = Array.from({ length: coloursMax }, (_, at) => colour(`group-${at}`));
  return { text, line, accent, back, groups } as Colours;
}
