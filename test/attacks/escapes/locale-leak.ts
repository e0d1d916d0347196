// expect: ok ["en-US","UTC",0]
export default () => { const o = Intl.DateTimeFormat().resolvedOptions(); return [o.locale, o.timeZone, new Date().getTimezoneOffset()]; };
