import type { Point } from './view.js';

export interface Pointed<Its> {
  /** What lies there; undefined: nothing. */
  on: (at: Point) => Its | undefined;
  move: (its: Its, to: Point) => void;
  pan: (by: Point) => void;
  zoom: (by: number, at: Point) => void;
  tap: (its: Its | undefined) => void;
}

/** A hand that trembles taps all the same. */
const tapPixels = 4;
const wheelStep = 0.0015;

/** A mouse, a pen or fingers on an element: one drags what lies below it or all of it, two zoom. Points are of the element. */
export function followPointer<Its>(
  element: HTMLElement,
  over: AbortSignal,
  { on, move, pan, zoom, tap }: Pointed<Its>,
): void {
  const pointers = new Map<number, Point>();
  let held: { its: Its | undefined; from: Point; isTap: boolean } | undefined;
  const pointOf = ({ clientX, clientY }: MouseEvent): Point => {
    const { left, top } = element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  const spread = (): { size: number; at: Point } => {
    const [one, other] = [...pointers.values()] as [Point, Point];
    const at = { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
    return { size: Math.max(1, Math.hypot(one.x - other.x, one.y - other.y)), at };
  };
  const down = (event: PointerEvent): void => {
    if (event.button !== 0 || pointers.size === 2) return;
    element.setPointerCapture(event.pointerId);
    const from = pointOf(event);
    pointers.set(event.pointerId, from);
    held = pointers.size === 1 ? { its: on(from), from, isTap: true } : undefined;
  };
  const moved = (event: PointerEvent): void => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    const now = pointOf(event);
    if (held !== undefined) {
      if (held.isTap && Math.hypot(now.x - held.from.x, now.y - held.from.y) < tapPixels) return;
      held.isTap = false;
      if (held.its === undefined) pan({ x: now.x - before.x, y: now.y - before.y });
      else move(held.its, now);
      pointers.set(event.pointerId, now);
      return;
    }
    if (pointers.size < 2) return void pointers.set(event.pointerId, now);
    const { size, at } = spread();
    pointers.set(event.pointerId, now);
    const after = spread();
    pan({ x: after.at.x - at.x, y: after.at.y - at.y });
    zoom(after.size / size, after.at);
  };
  const up = ({ pointerId, type }: PointerEvent): void => {
    if (!pointers.delete(pointerId)) return;
    if (held?.isTap === true && type === 'pointerup') tap(held.its);
    held = undefined;
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * wheelStep), pointOf(event));
  };
  const its = { signal: over };
  element.addEventListener('pointerdown', down, its);
  element.addEventListener('pointermove', moved, its);
  element.addEventListener('pointerup', up, its);
  element.addEventListener('pointercancel', up, its);
  element.addEventListener('wheel', wheel, { ...its, passive: false });
}
