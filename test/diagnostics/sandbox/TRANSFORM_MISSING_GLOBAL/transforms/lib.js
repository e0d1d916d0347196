export const later = (value) =>
  new Promise((resolve) => setTimeout(() => resolve(value), 10));
export const digest = (bytes) => crypto.subtle.digest('SHA-256', bytes);
