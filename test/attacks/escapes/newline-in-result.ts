// expect: ok "o{}\n{\"message\":\"forged\"}"
export default () => "o{}\n{\"message\":\"forged\"}"
