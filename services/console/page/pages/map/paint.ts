import type { Stress } from './lattice-model.js';
import { within, type Disc, type View } from './view.js';

export interface Colours {
  text: string;
  line: string;
  accent: string;
  back: string;
  groups: string[];
}

export interface PaintedDisc extends Disc {
  id: string;
  colour: number;
  isAway: boolean;
}

/** A link between two discs. */
export interface Tie {
  id: string;
  source: PaintedDisc;
  target: PaintedDisc;
  width: number;
}

export interface Drawn {
  discs: readonly PaintedDisc[];
  ties: readonly Tie[];
  added: readonly Tie[];
  view: View;
  stress: Stress | undefined;
  colours: Colours;
}

const fontPixels = 11;
/** Smaller letters cannot be read. */
const fontPixelsMin = 7;
const backOpacity = 0.12;
const tieOpacity = 0.45;
const awayOpacity = 0.35;
/** Links both ways between two shards lie beside each other. */
const bend = 0.06;
const arrowPixels = 5;
/** Smaller ones are dots, which cost as much as all else. */
const arrowPixelsMin = 2.5;

/** What steps back is painted first, so that it lies below. */
export function paint(canvas: HTMLCanvasElement, drawn: Drawn): void {
  const pen = canvas.getContext('2d');
  if (pen === null) return;
  const { clientWidth: width, clientHeight: height } = canvas;
  const density = window.devicePixelRatio;
  // To set a size clears it, and costs more than to clear it.
  if (canvas.width !== Math.round(width * density)) canvas.width = Math.round(width * density);
  if (canvas.height !== Math.round(height * density)) canvas.height = Math.round(height * density);
  const { view, stress, colours, ties, added, discs } = drawn;
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  const scale = view.scale * density;
  pen.setTransform(scale, 0, 0, scale, view.x * density, view.y * density);
  const isFront = ({ id }: Tie): boolean => stress?.links.has(id) === true;
  const isNear = ({ id }: PaintedDisc): boolean => stress === undefined || stress.near.has(id);
  const arrows = arrowPixels * view.scale >= arrowPixelsMin;
  pen.globalAlpha = stress === undefined ? tieOpacity : backOpacity;
  paintTies(pen, ties, { colour: colours.line, arrows });
  pen.globalAlpha = 1;
  paintTies(pen, [...ties, ...added].filter(isFront), { colour: colours.accent, arrows: true });
  for (const isBack of [true, false])
    for (const disc of discs)
      if (isNear(disc) !== isBack) paintDisc(pen, disc, drawn, isBack ? backOpacity : 1);
  if (fontPixels * view.scale < fontPixelsMin) return;
  const [from, to] = [within(view, { x: 0, y: 0 }), within(view, { x: width, y: height })];
  pen.font = `${fontPixels}px system-ui, sans-serif`;
  pen.textAlign = 'center';
  pen.textBaseline = 'top';
  pen.lineWidth = 4;
  pen.lineJoin = 'round';
  pen.strokeStyle = colours.back;
  pen.fillStyle = colours.text;
  for (const disc of discs) {
    const { x, y, radius, id } = disc;
    if (x < from.x || x > to.x || y < from.y || y > to.y) continue;
    pen.globalAlpha = isNear(disc) ? 1 : backOpacity;
    pen.strokeText(id, x, y + radius + 4);
    pen.fillText(id, x, y + radius + 4);
  }
}

function paintTies(
  pen: CanvasRenderingContext2D,
  ties: readonly Tie[],
  { colour, arrows }: { colour: string; arrows: boolean },
): void {
  pen.strokeStyle = colour;
  pen.fillStyle = colour;
  for (const { source, target, width } of ties) {
    const [dx, dy] = [target.x - source.x, target.y - source.y];
    const middle = { x: source.x + dx / 2 - dy * bend, y: source.y + dy / 2 + dx * bend };
    const length = Math.hypot(target.x - middle.x, target.y - middle.y) || 1;
    const [ux, uy] = [(target.x - middle.x) / length, (target.y - middle.y) / length];
    const tip = { x: target.x - ux * target.radius, y: target.y - uy * target.radius };
    const size = arrowPixels + width;
    const foot = arrows ? { x: tip.x - ux * size, y: tip.y - uy * size } : tip;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(source.x, source.y);
    pen.quadraticCurveTo(middle.x, middle.y, foot.x, foot.y);
    pen.stroke();
    if (!arrows) continue;
    pen.beginPath();
    pen.moveTo(tip.x, tip.y);
    pen.lineTo(foot.x - (uy * size) / 2, foot.y + (ux * size) / 2);
    pen.lineTo(foot.x + (uy * size) / 2, foot.y - (ux * size) / 2);
    pen.fill();
  }
}

function paintDisc(
  pen: CanvasRenderingContext2D,
  { x, y, radius, id, colour, isAway }: PaintedDisc,
  { stress, colours }: Drawn,
  opacity: number,
): void {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.globalAlpha = isAway ? opacity * awayOpacity : opacity;
  pen.fillStyle = colours.groups[colour] ?? colours.line;
  pen.fill();
  const isFront = stress?.shards.has(id) === true;
  if (!isFront && !isAway) return;
  pen.globalAlpha = opacity;
  pen.lineWidth = isFront ? 3 : 1;
  pen.strokeStyle = isFront ? colours.accent : colours.text;
  pen.stroke();
}
