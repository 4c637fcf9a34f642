export function scoreText(score: number | null): string {
  return score === null ? 'no score' : score.toFixed(3);
}
