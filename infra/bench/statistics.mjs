/** The value below which `share` of the samples lie (nearest rank). */
export function percentile(samples, share) {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

export const median = (samples) => {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** p50 and p99 for people and for the report. */
export const spread = (samples) => ({
  samples: samples.length,
  p50: percentile(samples, 0.5),
  p99: percentile(samples, 0.99),
});
