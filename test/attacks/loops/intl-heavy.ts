// expect: timeout memory crashed user-error
export default () => { const kept = []; for (;;) kept.push(new Intl.DateTimeFormat("ar-u-ca-islamic", { dateStyle: "full", timeStyle: "full" }), new Intl.NumberFormat("zh-u-nu-hanidec", { style: "currency", currency: "EUR" }), new Intl.Collator("de"), new Intl.Segmenter("th", { granularity: "word" })); };
