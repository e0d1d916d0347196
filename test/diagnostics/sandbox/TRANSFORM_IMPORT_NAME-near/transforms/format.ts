export const formatAmount = (n: number): string => String(n);
