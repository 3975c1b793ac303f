/* Light and dark: as the system has it, until the button is used. */
export function startTheme(button, changed) {
    const system = window.matchMedia('(prefers-color-scheme: dark)');
    let chosen = null;
    function apply() {
        const dark = chosen ?? system.matches;
        document.documentElement.dataset.theme = dark ? 'dark' : 'light';
        button.textContent = dark ? 'Light' : 'Dark';
        button.setAttribute('aria-label', dark ? 'Light colours' : 'Dark colours');
        changed();
    }
    system.addEventListener('change', apply);
    button.addEventListener('click', () => {
        chosen = !(chosen ?? system.matches);
        apply();
    });
    apply();
}

/* A colour of style.css, as text and as three numbers from 0 to 1. */
export function themeColor(name) {
    return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

export function themeNumbers(name) {
    const hex = themeColor(name);
    return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);
}
